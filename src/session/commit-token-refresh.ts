import { CliError } from '../base/errors.ts';
import type { CredentialRecord } from './credential-record.ts';
import {
  credentialStoreUnavailableError,
  describeCredentialStore,
  isCredentialStoreUnavailable,
  type OpenCredentialStore,
} from './credential-store.ts';
import { reachFailpoint } from './failpoints.ts';
import type { PreparedRefreshJournalFile } from './refresh-journal.ts';
import type { SessionRefreshDeps } from './session-refresh-deps.ts';
import { type FoundStoredSession, readStoredSession, requireStoredSession } from './stored-session.ts';
import { writeCredentialUnlessSuperseded } from './write-credential-unless-superseded.ts';

/** A refresh whose response was received. */
export interface TokenRefreshWithResponse {
  readonly deps: SessionRefreshDeps;
  readonly items: OpenCredentialStore;
  readonly found: FoundStoredSession;
  readonly reservation: PreparedRefreshJournalFile;
  /** Whether the journal file contains the token response, so that the new tokens survive a crash. */
  readonly isKept: boolean;
}

/**
 * Returns the session record that is now in the store; another process may have stored a newer record. Throws if the new
 * grant could not be stored.
 */
export async function commitTokenRefresh(
  ongoing: TokenRefreshWithResponse,
  next: CredentialRecord,
): Promise<CredentialRecord> {
  const { deps, items, found, reservation, isKept } = ongoing;
  const written = await reservation.commit(next, () =>
    writeCredentialUnlessSuperseded(deps.store, items, next, found.record),
  );
  reservation.close();
  if (isCredentialStoreUnavailable(written)) {
    const { message, detail, hint } = credentialStoreUnavailableError(written, deps.profile);
    if (isKept && deps.store.kind !== 'file') {
      const consequence = 'an encrypted copy in the state folder is used by later commands';
      await deps.warn(
        `could not store the refreshed session in the ${describeCredentialStore(deps.store)}: ${message}; ${consequence}; ${hint}`,
      );
      return next;
    }
    const consequence = isKept
      ? `the new tokens are kept in ${reservation.path}, and later commands use them`
      : 'the new tokens are lost with this command, and the next command needs a login';
    throw new CliError(
      'keychain_unavailable',
      `could not store the refreshed session in the ${describeCredentialStore(deps.store)}`,
      {
        detail: `${detail}; ${consequence}`,
        hint,
      },
    );
  }
  if (written.kind === 'superseded') {
    const stored = await readStoredSession(deps.store, items, deps.binding);
    return requireStoredSession(stored, deps.profile, deps.store.location).record;
  }
  reachFailpoint(deps, 'K10-stored');
  deps.store.journal.removeCommitted(next);
  reachFailpoint(deps, 'K10-cleared');
  return next;
}
