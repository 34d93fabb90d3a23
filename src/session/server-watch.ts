import { CliError } from '../errors.ts';
import type { Clock } from '../platform/host.ts';
import { SendError, sendErrorCode } from '../platform/http-sender.ts';

export interface ReachabilityCheckDeps {
  readonly clock: Clock;
  /** Opens and closes a connection to the authorization server. Throws a SendError. */
  readonly probeServer: () => Promise<void>;
  /** What helps when the server cannot be reached. */
  readonly unreachableHint: string;
}

/** Attempts, and milliseconds between them: a server that restarts may be back after a second. */
const attempts = 3;
const pauseMs = 1_000;

/**
 * Rejects when the authorization server cannot be reached from this machine, which would otherwise be noticed only after the
 * person has signed in, or never. Stays pending when it can be reached.
 */
export async function rejectIfUnreachable(deps: ReachabilityCheckDeps, signal: AbortSignal): Promise<never> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await deps.probeServer();
      break;
    } catch (error) {
      if (!(error instanceof SendError)) throw error;
      if (attempt === attempts) {
        throw new CliError(sendErrorCode(error), `could not log in: ${error.message}`, {
          hint: deps.unreachableHint,
          cause: error,
        });
      }
    }
    await deps.clock.sleep(pauseMs, signal).catch(() => undefined);
  }
  return new Promise<never>(() => {});
}
