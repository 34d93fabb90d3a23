import { buildTlsFailureHint } from '../../api/client.ts';
import { CliError } from '../../base/errors.ts';
import type { Clock } from '../../platform/host.ts';
import { getCliNetworkErrorCode, HttpSendError } from '../../platform/http-sender.ts';

export interface AuthServerReachabilityCheckDeps {
  readonly clock: Clock;
  /** Opens and closes a connection to the authorization server. Throws a HttpSendError if the connection fails. */
  readonly probeServer: () => Promise<void>;
  /** The hint of the error when the server cannot be reached. */
  readonly unreachableHint: string;
}

/** The number of connection attempts and the milliseconds between them, for a server that restarts within a few seconds. */
const attempts = 3;
const pauseMs = 1_000;

/**
 * Rejects when this machine cannot reach the authorization server, which would otherwise be noticed only after the user has
 * signed in, or never. The promise stays pending as long as the server can be reached.
 */
export async function rejectWhenAuthServerUnreachable(
  deps: AuthServerReachabilityCheckDeps,
  signal: AbortSignal,
): Promise<never> {
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      await deps.probeServer();
      break;
    } catch (error) {
      if (!(error instanceof HttpSendError)) throw error;
      if (attempt === attempts || error.isFinal) {
        throw new CliError(getCliNetworkErrorCode(error), `could not log in: ${error.message}`, {
          hint: error.hint ?? (error.kind === 'tls' ? buildTlsFailureHint(error) : deps.unreachableHint),
          cause: error,
        });
      }
    }
    await deps.clock.sleep(pauseMs, signal).catch(() => undefined);
  }
  return new Promise<never>(() => {});
}
