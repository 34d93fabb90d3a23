import type { Clock } from '../platform/host.ts';
import type { SessionBinding } from './credential-record.ts';
import {
  type CredentialItems,
  type CredentialStore,
  isUnavailable,
  storeUnavailableError,
} from './credential-store.ts';
import { type FailpointObserver, reachFailpoint } from './failpoints.ts';
import { type FoundSession, readStoredSession, requireStoredSession, writeCredentialRecord } from './stored-session.ts';

export interface RecoveryDeps extends FailpointObserver {
  readonly profile: string;
  readonly binding: SessionBinding;
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly warn: (text: string) => Promise<void>;
}

/**
 * Under the profile's lock: reads what is stored now, and puts right what an interrupted command has left (the table of
 * docs/sessions.md). A store that cannot be read is an error before anything is touched; an item that is gone as well.
 */
export async function recoverSession(deps: RecoveryDeps, items: CredentialItems): Promise<FoundSession> {
  const { store } = deps;
  const found = requireStoredSession(await readStoredSession(store, items, deps.binding), deps.profile, store.location);
  if (found.pending && found.needsRecovery) {
    reachFailpoint(deps, 'R-promoting');
    const written = await writeCredentialRecord(store, items, found.record);
    if (isUnavailable(written)) {
      await deps.warn(
        `the renewed session is still not in the ${store.kind}: ${storeUnavailableError(written, deps.profile).message}`,
      );
      return found;
    }
    reachFailpoint(deps, 'R-promoted');
    store.journal.removeCommitted(found.record);
  }
  if (!found.pending || found.needsRecovery) store.journal.removeObsolete(found.record, deps.clock.now());
  return found;
}
