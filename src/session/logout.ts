import { CliError } from '../base/errors.ts';
import { interruptedError } from '../platform/defer-signals.ts';
import type { HeldFileLock } from '../platform/file-lock.ts';
import { decodeCredentialRecord } from './credential-record.ts';
import {
  type CredentialStore,
  credentialStoreUnavailableError,
  isCredentialStoreUnavailable,
  type OpenCredentialStore,
  type ReplacedSession,
  requireCredentialStoreAvailable,
} from './credential-store.ts';
import { type EndSessionGrantDeps, endSessionGrant, type SessionGrantEnd } from './end-session-grant.ts';
import { readJournaledOrStoredCredentialRecord } from './stored-session.ts';
import { revokeInPanelHint } from './token-endpoint-error.ts';

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
  let deleted: DeletedSession;
  try {
    deleted = await deps.store.withItems((items) => deleteSession(deps.store, items), lock);
    deps.removeAccount();
  } finally {
    lock.release();
  }
  if (deleted.kind === 'nothing') return deleted;
  const { session, error } = deleted;
  const outcome = await endDeletedSession(deps, session, local);
  return error === undefined ? outcome : { kind: 'unproven', error: addRevocationToError(error, outcome) };
}

async function endDeletedSession(
  deps: LogoutDeps,
  session: ReplacedSession | undefined,
  local: boolean,
): Promise<LogoutOutcome> {
  if (session !== undefined && !local) return endSessionGrant(deps, session);
  if (local || deps.store.kind !== 'shared') return { kind: 'local' };
  // The session of all machines has ended, and no machine revokes it.
  const error = new CliError('api_error', 'the session was ended, but its tokens were not revoked', {
    detail: 'the record of the session in the shared store could not be read',
    hint: revokeInPanelHint,
  });
  return { kind: 'unproven', error };
}

type DeletedSession =
  | { readonly kind: 'nothing' }
  | {
      readonly kind: 'ended';
      readonly session: ReplacedSession | undefined;
      /** The error if a shared store may not have stored the logout, or if a signal arrived meanwhile. */
      readonly error?: CliError | undefined;
    };

/** The item is deleted first, because it contains the key without which the journal files of the session cannot be decrypted. */
async function deleteSession(
  { journal, profile }: CredentialStore,
  items: OpenCredentialStore,
): Promise<DeletedSession> {
  const item = requireCredentialStoreAvailable(await items.read('credential'), profile);
  if (item.kind === 'absent') return { kind: 'nothing' };
  // A record in the shared store that cannot be decrypted does not keep a machine from revoking the session that it knows.
  const stored = decodeCredentialRecord(item.value.reveal()) ?? items.shared?.knownRecord();
  // The newest record is revoked, because the tokens of older records are already invalid.
  const newest = stored === undefined ? undefined : readJournaledOrStoredCredentialRecord(journal, stored);
  const removed = await items.remove('credential');
  const known = newest === undefined ? undefined : { record: newest, isEndedElsewhere: false };
  if (isCredentialStoreUnavailable(removed) && removed.unconfirmed !== undefined) {
    const { replaced = known } = removed.unconfirmed;
    return { kind: 'ended', session: replaced, error: credentialStoreUnavailableError(removed, profile) };
  }
  const { replaced = known, wasEnded = false, interruptedBy } = requireCredentialStoreAvailable(removed, profile);
  if (stored !== undefined) journal.removeSession(stored.sid);
  if (wasEnded && interruptedBy === undefined) return { kind: 'nothing' };
  if (interruptedBy === undefined) return { kind: 'ended', session: replaced };
  if (!wasEnded)
    return {
      kind: 'ended',
      session: replaced,
      error: interruptedError(interruptedBy, { detail: 'the session was ended' }),
    };
  throw interruptedError(interruptedBy, { detail: 'another logout has ended the session and revokes its tokens' });
}

function addRevocationToError(error: CliError, outcome: LogoutOutcome): CliError {
  const revocation =
    outcome.kind === 'revoked'
      ? 'the access token is revoked'
      : outcome.kind === 'unproven'
        ? outcome.error.message
        : 'its tokens were not revoked';
  return new CliError(error.code, error.message, { ...error, detail: `${error.detail}; ${revocation}` });
}
