/**
 * The words for files that cannot be read, as the operator knows them: `open <path>: no such file or directory`.
 */

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  ELOOP: 'too many levels of symbolic links',
  ENAMETOOLONG: 'file name too long',
  EMFILE: 'too many open files',
  EIO: 'input/output error',
};

/** One line that names the file and what is wrong. A folder opens well and fails when it is read. */
export function fileErrorText(path: string, error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const verb = code === 'EISDIR' ? 'read' : 'open';
  return `${verb} ${path}: ${REASONS[code] ?? error.message}`;
}
