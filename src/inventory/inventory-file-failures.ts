import { CliError } from '../base/errors.ts';

/** Files of an inventory that could not be read or written. They end neither the checks nor the report. */
export interface InventoryFileFailures {
  /** Returns whether `work` succeeded. A CliError of it is kept for the end of the run. */
  readonly attempt: (work: () => void) => boolean;
  /** The error of the run; undefined if no file failed. */
  readonly error: () => CliError | undefined;
}

export function createInventoryFileFailures(): InventoryFileFailures {
  let first: CliError | undefined;
  let count = 0;
  return {
    attempt(work) {
      try {
        work();
        return true;
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        first ??= error;
        count += 1;
        return false;
      }
    },
    error() {
      if (first === undefined) return undefined;
      // Not `usage`: the options were right when the run began, and sources were checked.
      return new CliError('internal', first.message, {
        detail: count === 1 ? undefined : `${count} files could not be used; this is the first of them`,
        hint: 'correct the cause, such as a full disk, and run the same command again',
        cause: first,
      });
    },
  };
}
