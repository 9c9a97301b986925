/** Under which subject the message of an origin is stored: that of the first transform whose source matches. */

import { compileTransform, type Transform } from '../../server/subject/transform.ts';
import type { FractionSource } from '../../server/subject/transform-token.ts';
import type { StreamSource, SubjectTransform } from '../stream/stream-config-parts.ts';

export class SubjectTransforms {
  private readonly transforms: readonly Transform[];
  private readonly random: FractionSource;

  constructor({ subjectTransforms }: StreamSource, random: FractionSource) {
    this.transforms = (subjectTransforms ?? []).flatMap((each) => compiled(each));
    this.random = random;
  }

  /** `null`: the one that it has. */
  apply(subject: string): string | null {
    for (const transform of this.transforms) {
      const changed = transform.apply(subject, this.random);
      if (changed !== null) return changed;
    }
    return null;
  }
}

function compiled({ source, destination }: SubjectTransform): Transform[] {
  // Filters without a destination let messages pass as they are.
  if (destination === '') return [];
  const { value } = compileTransform(source, destination);
  return value === null ? [] : [value];
}
