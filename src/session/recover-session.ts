import type { ProfileReference } from '../config/settings.ts';
import type { Clock } from '../platform/host.ts';
import type { SessionServerBinding } from './credential-record.ts';
import {
  type CredentialStore,
  credentialStoreUnavailableError,
  describeCredentialStore,
  isCredentialStoreUnavailable,
  type OpenCredentialStore,
} from './credential-store.ts';
import { type FailpointObserver, reachFailpoint } from './failpoints.ts';
import { type FoundStoredSession, readStoredSession, requireStoredSession } from './stored-session.ts';
import { writeCredentialUnlessSuperseded } from './write-credential-unless-superseded.ts';

export interface SessionRecoveryDeps extends FailpointObserver {
  readonly profile: ProfileReference;
  readonly binding: SessionServerBinding;
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly warn: (text: string) => Promise<void>;
}

/**
 * Reads the stored session under the profile's lock and recovers what an interrupted command has left (see the table of
 * docs/sessions.md). Throws when the store cannot be read or the item is missing; the store is then unchanged.
 */
export async function recoverStoredSession(
  deps: SessionRecoveryDeps,
  items: OpenCredentialStore,
): Promise<FoundStoredSession> {
  const { store } = deps;
  const found = requireStoredSession(await readStoredSession(store, items, deps.binding), deps.profile, store.location);
  if (found.pending && found.needsRecovery) {
    reachFailpoint(deps, 'R-promoting');
    const written = await writeCredentialUnlessSuperseded(store, items, found.record, found.record);
    if (isCredentialStoreUnavailable(written)) {
      await deps.warn(
        `could not move the refreshed session into the ${describeCredentialStore(store)}: ${credentialStoreUnavailableError(written, deps.profile).message}`,
      );
      return found;
    }
    // Another process has changed the store after it was read, so the stored record is the current one.
    if (written.kind === 'superseded')
      return requireStoredSession(await readStoredSession(store, items, deps.binding), deps.profile, store.location);
    reachFailpoint(deps, 'R-promoted');
    store.journal.removeCommitted(found.record);
  }
  if (!found.pending || found.needsRecovery) store.journal.removeObsolete(found.record, deps.clock.now());
  return found;
}
