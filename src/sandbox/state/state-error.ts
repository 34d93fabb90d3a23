/** The error for a state folder that cannot be used. */
export class StateFolderError extends Error {
  override readonly name = 'StateError';
  readonly reason: 'unusable' | 'busy' | 'damaged';
  /** The location of the error, for example a path and a line. */
  readonly detail: string | undefined;
  readonly hint: string | undefined;

  constructor(reason: StateFolderError['reason'], message: string, parts: { detail?: string; hint?: string } = {}) {
    super(message);
    this.reason = reason;
    this.detail = parts.detail;
    this.hint = parts.hint;
  }
}

/** The line number starts at 1. */
export function damagedStateError(path: string, line: number, problem: string): StateFolderError {
  return new StateFolderError('damaged', 'the sandbox state is damaged', {
    detail: `${path}, line ${line}: ${problem}`,
    hint: 'restore the folder from a backup, or name another folder with `--state`',
  });
}
