import { CliError } from '../base/errors.ts';
import { createRunningTimeTimeoutSignal } from '../platform/running-time-signal.ts';
import { type CredentialRecord, computeTokenSecondsLeft } from './credential-record.ts';
import { credentialStoreUnavailableError, type OpenCredentialStore } from './credential-store.ts';
import { probeAccessToken } from './missing-refresh-token.ts';
import type {
  MachinesWithUnreportedRefresh,
  RefreshClaim,
  RefreshRefusalWaitResult,
  SharedStoreUnavailable,
} from './refresh-claim.ts';
import type { PreparedRefreshJournalFile } from './refresh-journal.ts';
import type { TokenRefreshCause } from './renewed-credential-record.ts';
import type { SessionRefreshDeps } from './session-refresh-deps.ts';
import { type FoundStoredSession, needsLoginError } from './stored-session.ts';
import { formatCommandForProfile } from './suggested-commands.ts';
import { joinDetails } from './token-endpoint-error.ts';
import { type TokenErrorContext, tokenErrorHints } from './token-error-hints.ts';

/** Whether this process may send the refresh request. */
export type RefreshAnnouncementResult =
  /** The refresh request may be sent. `claim` is undefined for a credential store that only this machine uses. */
  | { readonly kind: 'announced'; readonly claim: RefreshClaim | undefined; readonly isInDoubt: boolean }
  /** The shared store has another record, so the refresh begins again. */
  | { readonly kind: 'changed' }
  /** The access token is still accepted, so nothing is sent. */
  | { readonly kind: 'unchanged' };

export interface AnnounceRefreshInput {
  readonly found: FoundStoredSession;
  readonly cause: TokenRefreshCause;
  readonly reservation: PreparedRefreshJournalFile;
  readonly errorContext: TokenErrorContext;
  /** How often the record has changed in this command. */
  readonly earlierAttempts: number;
}

/**
 * Announces a refresh to the machines that share the session. Without the acknowledgement of the store nothing is sent. Throws
 * `busy`, `needs_login` or `unreachable`; the reserved file is then removed.
 */
export async function announceRefresh(
  deps: SessionRefreshDeps,
  items: OpenCredentialStore,
  refresh: AnnounceRefreshInput,
): Promise<RefreshAnnouncementResult> {
  const { found, cause, reservation, errorContext, earlierAttempts } = refresh;
  if (items.shared === undefined) return { kind: 'announced', claim: undefined, isInDoubt: found.inDoubt };
  const { record } = found;
  const withdraw = (): void => (found.inDoubt ? reservation.close() : reservation.discard());
  if (earlierAttempts > maxAttempts) {
    withdraw();
    throw busyError(deps, 'the session in the shared store changes all the time');
  }
  const options = { hasUnfinishedRefresh: found.inDoubt, maySendRefusedToken: cause.kind === 'forced' };
  const result = await items.shared.claim(record, options).catch((error: unknown) => {
    withdraw();
    throw error;
  });
  if (result.kind === 'claimed') {
    const { claim } = result;
    if (claim.isInDoubt && !found.inDoubt && (await isTokenUsable(deps, record, cause))) {
      await claim.release(true);
      withdraw();
      return { kind: 'unchanged' };
    }
    if (await claim.confirm()) return { kind: 'announced', claim, isInDoubt: found.inDoubt || claim.isInDoubt };
    withdraw();
    return { kind: 'changed' };
  }
  withdraw();
  switch (result.kind) {
    case 'changed':
      return result;
    case 'refused':
      throw sharedSessionEndedError(deps, record, result, errorContext);
    case 'busy':
      throw busyError(deps, `${result.holder} refreshes the session`);
    case 'unavailable':
      // An access token that has not expired can be used although the store is not available.
      if (cause.kind === 'due' && computeTokenSecondsLeft(record, deps.clock.now()) > 0) {
        await deps.warn(`could not refresh the session: ${result.reason}; the access token is used until it expires`);
        return { kind: 'unchanged' };
      }
      throw credentialStoreUnavailableError(result, deps.profile);
    default:
      return result satisfies never;
  }
}

const maxAttempts = 10;

/** An earlier refresh may have been processed. If the API still accepts the access token, that refresh was not processed. */
async function isTokenUsable(
  deps: SessionRefreshDeps,
  record: CredentialRecord,
  cause: TokenRefreshCause,
): Promise<boolean> {
  if (cause.kind !== 'due') return false;
  const acceptance = await probeAccessToken(deps, record, createRunningTimeTimeoutSignal(10_000));
  const isAlive = computeTokenSecondsLeft(record, deps.clock.now()) > 0;
  return acceptance === 'accepted' || (acceptance === 'unknown' && isAlive);
}

/**
 * Called after the authorization server refused the refresh token. Throws `needs_login` if no machine has published a newer
 * record. Nothing is deleted, because a machine that is offline may still publish a newer record.
 */
export function requireNewerSharedRecord(
  deps: SessionRefreshDeps,
  result: RefreshRefusalWaitResult | SharedStoreUnavailable,
  record: CredentialRecord,
  errorContext: TokenErrorContext,
): void {
  if (result.kind === 'unavailable') throw credentialStoreUnavailableError(result, deps.profile);
  if (result.kind === 'refused') throw sharedSessionEndedError(deps, record, result, errorContext);
}

function sharedSessionEndedError(
  deps: SessionRefreshDeps,
  record: CredentialRecord,
  { machines, sinceMs }: MachinesWithUnreportedRefresh,
  errorContext: TokenErrorContext,
): CliError {
  const error = needsLoginError(deps.profile, unreportedText(machines, sinceMs), record, deps.flowOption(record.sid));
  // A command whose copy is valid does not read the store, so it would not publish a newer record.
  const command = formatCommandForProfile(deps.profile, 'auth status --check');
  const where = machines.length === 0 ? 'a machine that has used the session since that backup' : machines.join(' or ');
  const again = machines.length === 0 ? tokenErrorHints.sendRefusedTokenAgain(errorContext) : undefined;
  return new CliError('needs_login', error.message, {
    detail: error.detail,
    hint: joinDetails(again, `run ${command} on ${where}`, `if that is not possible, log in: ${error.hint ?? ''}`),
  });
}

function unreportedText(machines: readonly string[], sinceMs: number | undefined): string {
  if (machines.length === 0)
    return 'the server refused the refresh token; the shared store may be older than the session, for example restored from a backup, or the response to a refresh was lost';
  const since = sinceMs === undefined ? '' : ` at ${new Date(sinceMs).toISOString()}`;
  return `the server refused the refresh token; ${machines.join(', ')} began a refresh${since} and has not reported its result`;
}

function busyError(deps: SessionRefreshDeps, detail: string): CliError {
  return new CliError('busy', 'could not refresh the session: another machine is refreshing it', {
    detail,
    hint: `run the command again, or see ${formatCommandForProfile(deps.profile, 'auth share status')}`,
  });
}
