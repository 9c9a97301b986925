/**
 * Why a subject transform was refused: a closed table whose texts are nats-server's, because they reach users through
 * configuration errors and API answers.
 *
 * A message quotes the offending token, so its char codes are bytes, like the subject's.
 */

export type TransformErrorCode =
  | 'bad-subject'
  | 'invalid-transform'
  | 'unknown-function'
  | 'index-out-of-range'
  | 'not-enough-arguments'
  | 'too-many-arguments'
  | 'invalid-argument'
  | 'not-all-wildcards'
  | 'not-for-imports';

const BAD_DESTINATION = 'invalid mapping destination';

const TEXTS: Readonly<Record<TransformErrorCode, string>> = {
  'bad-subject': 'invalid subject',
  'invalid-transform': `${BAD_DESTINATION}: invalid transform`,
  'unknown-function': `${BAD_DESTINATION}: unknown function`,
  'index-out-of-range': `${BAD_DESTINATION}: wildcard index out of range`,
  'not-enough-arguments': `${BAD_DESTINATION}: not enough arguments passed to the function`,
  'too-many-arguments': `${BAD_DESTINATION}: too many arguments passed to the function`,
  'invalid-argument': `${BAD_DESTINATION}: function argument is invalid or in the wrong format`,
  'not-all-wildcards': `${BAD_DESTINATION}: not using all of the token wildcard(s)`,
  'not-for-imports': `${BAD_DESTINATION}: the only mapping function allowed for import transforms is {{Wildcard()}}`,
};

export interface TransformError {
  readonly code: TransformErrorCode;
  /** nats-server's text. */
  readonly message: string;
}

/** The error with its text; `where` is the token or destination at fault, or empty when the text names none. */
export function transformError(code: TransformErrorCode, where = ''): TransformError {
  return { code, message: where === '' ? TEXTS[code] : `${TEXTS[code]} in ${where}` };
}
