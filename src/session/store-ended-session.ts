import type { CredentialRecord } from './credential-record.ts';
import { isCredentialStoreUnavailable, type OpenCredentialStore } from './credential-store.ts';
import type { SessionRecoveryDeps } from './recover-session.ts';
import type { PreparedRefreshJournalFile } from './refresh-journal.ts';
import { readStoredSession } from './stored-session.ts';
import { formatReauthenticateCommand } from './suggested-commands.ts';
import type { TokenErrorContext } from './token-error-hints.ts';
import type { AccountUpdateAfterRefreshDeps } from './update-account-after-token-refresh.ts';
import { writeCredentialUnlessSuperseded } from './write-credential-unless-superseded.ts';

/** Milliseconds to wait until another process has stored the response that it has received. */
const rivalTimeoutMs = 2_000;

/**
 * Waits for the record of another process that has sent the same refresh token. The other process created a journal file before
 * its request, so it is recognized by that file as long as its record is not stored. @returns the newer record; undefined when
 * there is none
 */
export async function waitForNewerCredentialRecord(
  { store, binding, clock }: Pick<SessionRecoveryDeps, 'store' | 'binding' | 'clock'>,
  items: OpenCredentialStore,
  sent: CredentialRecord,
  reservation: PreparedRefreshJournalFile,
): Promise<CredentialRecord | undefined> {
  const pauseMs = 50;
  for (let left = rivalTimeoutMs; ; left -= pauseMs) {
    // `hasRival` is called first: another process stores its record before it ends, so if no other process is left, the
    // record that is read next is final.
    const hasRival = reservation.hasRival();
    const stored = await readStoredSession(store, items, binding);
    const isNewer = stored.kind === 'found' && (stored.record.sid !== sent.sid || stored.record.gen > sent.gen);
    if (isNewer) return stored.record;
    if (!hasRival || left <= 0) return undefined;
    await clock.sleep(pauseMs);
  }
}

/** Stores that the session has ended, unless the store has a newer record than the one with the rejected refresh token. */
export async function storeEndedSession(
  { store }: Pick<SessionRecoveryDeps, 'store'>,
  items: OpenCredentialStore,
  ended: CredentialRecord,
  sent: CredentialRecord,
): Promise<void> {
  const written = await writeCredentialUnlessSuperseded(store, items, ended, sent);
  if (!isCredentialStoreUnavailable(written) && written.kind === 'done')
    store.journal.removeCommitted({ ...ended, gen: ended.gen + 1 });
}

/** Additions to the error that ends a session: the command that logs in to the same account, and a possible reason. */
export function buildSessionEndedErrorContext(
  { profile, flowOption }: Pick<AccountUpdateAfterRefreshDeps, 'profile' | 'flowOption'>,
  ended: CredentialRecord,
  context: TokenErrorContext,
): TokenErrorContext {
  const { consequence: _kept, ...rest } = context;
  const mayMissCredentials = context.tokenParams === 'query' && !context.isSpecServer;
  return {
    ...rest,
    loginCommand: formatReauthenticateCommand(profile, ended, flowOption(ended.sid)),
    ...(mayMissCredentials
      ? { consequence: 'a refresh with token_params query sends no client credentials, which some servers require' }
      : {}),
  };
}
