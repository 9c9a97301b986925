/** A page of monitoring as it is asked for in `$SYS`: how its body is read, and who writes it. */

import type { Answer, AnswerTo, MonitorContext } from '../monitor/endpoint.ts';
import type { GoStruct } from '../protocol/go-json-struct.ts';
import { bodyOf, type Given, type PageOption, type PageRequest, queryOf } from './page-option.ts';

/**
 * `account`: whom the request is about, '' for the server. `null`: nothing to say, which is said by silence. Throws a
 * BadRequest, or rejects with one, when there is no such page.
 */
type Page = (given: Given, context: MonitorContext, account: string) => Answer | Promise<Answer> | null;

export interface RequestKind {
  readonly body: GoStruct<PageRequest>;
  readonly page: Page;
}

/** `outerName`: where the names of nats-server's types differ (`JSzOptions` in `JszEventOptions`). */
export function kindOf(name: string, options: readonly PageOption[], page: Page, outerName?: string): RequestKind {
  return { body: bodyOf(name, options, outerName), page };
}

/** A page that has a path too. `narrow` changes what is asked for when it is about one account. */
export function pageOf(
  name: string,
  options: readonly PageOption[],
  endpoint: AnswerTo,
  narrow: (account: string) => Given = () => ({}),
): RequestKind {
  return kindOf(name, options, (given, context, account) =>
    endpoint(queryOf({ ...given, ...narrow(account) }, options), context),
  );
}
