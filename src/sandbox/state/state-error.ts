/** The error for a state folder that cannot be used. */
export class SandboxStateFolderError extends Error {
  override readonly name = 'StateError';
  readonly reason: 'unusable' | 'busy' | 'damaged';
  /** The location of the error, for example a path and a line. */
  readonly detail: string | undefined;
  readonly hint: string | undefined;

  constructor(
    reason: SandboxStateFolderError['reason'],
    message: string,
    parts: { detail?: string; hint?: string } = {},
  ) {
    super(message);
    this.reason = reason;
    this.detail = parts.detail;
    this.hint = parts.hint;
  }
}

/** The line number starts at 1. */
export function damagedStateError(path: string, line: number, problem: string): SandboxStateFolderError {
  return new SandboxStateFolderError('damaged', 'the sandbox state is damaged', {
    detail: `${path}, line ${line}: ${problem}`,
    hint: 'restore the folder from a backup, or name another folder with `--state`',
  });
}
