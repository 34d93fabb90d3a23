import type { HeldFileLock } from '../platform/file-lock.ts';
import { type CredentialRecord, decodeCredentialRecord } from './credential-record.ts';
import { type CredentialStore, type OpenCredentialStore, requireCredentialStoreAvailable } from './credential-store.ts';
import { type EndSessionGrantDeps, endSessionGrant, type SessionGrantEnd } from './end-session-grant.ts';
import { readJournaledOrStoredCredentialRecord } from './stored-session.ts';

export interface LogoutDeps extends EndSessionGrantDeps {
  readonly lock: () => Promise<HeldFileLock>;
  readonly requireSafe: () => void;
  readonly removeAccount: () => void;
}

export type LogoutOutcome = { readonly kind: 'nothing' } | { readonly kind: 'local' } | SessionGrantEnd;

/**
 * Ends a session: deletes it on this machine, revokes it at the server that issued it (even if the profile now names another
 * server), and checks that the token is refused (docs/service.md S6.2).
 */
export async function performLogout(deps: LogoutDeps, local: boolean): Promise<LogoutOutcome> {
  if (!local) deps.requireSafe();
  const lock = await deps.lock();
  let deleted: 'nothing' | 'damaged' | CredentialRecord;
  try {
    deleted = await deps.store.withItems((items) => deleteSession(deps.store, items), lock);
    deps.removeAccount();
  } finally {
    lock.release();
  }
  if (deleted === 'nothing') return { kind: 'nothing' };
  return local || deleted === 'damaged' ? { kind: 'local' } : endSessionGrant(deps, deleted);
}

/** The item is deleted first, because it contains the key without which the journal files of the session cannot be decrypted. */
async function deleteSession(
  { journal, profile }: CredentialStore,
  items: OpenCredentialStore,
): Promise<'nothing' | 'damaged' | CredentialRecord> {
  const item = requireCredentialStoreAvailable(await items.read('credential'), profile);
  if (item.kind === 'absent') return 'nothing';
  const stored = decodeCredentialRecord(item.value.reveal());
  // The newest record is revoked, because the tokens of older records are already invalid.
  const newest = stored === undefined ? undefined : readJournaledOrStoredCredentialRecord(journal, stored);
  requireCredentialStoreAvailable(await items.remove('credential'), profile);
  if (stored !== undefined) journal.removeSession(stored.sid);
  return newest ?? 'damaged';
}
