/** Why a state folder or a snapshot cannot be used, in words for the person who chose it. */
export class StateError extends Error {
  override readonly name = 'StateError';
  readonly reason: 'unusable' | 'busy' | 'damaged';
  /** Where it was found: a path, and the line in it. */
  readonly detail: string | undefined;
  readonly hint: string | undefined;

  constructor(reason: StateError['reason'], message: string, parts: { detail?: string; hint?: string } = {}) {
    super(message);
    this.reason = reason;
    this.detail = parts.detail;
    this.hint = parts.hint;
  }
}

export function damagedState(path: string, line: number, what: string): StateError {
  return new StateError('damaged', 'the state of the sandbox is damaged', {
    detail: `${path}, line ${line}: ${what}`,
    hint: 'put the folder back from a copy, or name another one with `--state`; nothing was changed',
  });
}
