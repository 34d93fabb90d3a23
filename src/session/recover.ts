import type { Clock } from '../platform/host.ts';
import { type Found, readStored, requireFound, writeRecord } from './current.ts';
import { pass, type Reached } from './points.ts';
import type { Binding } from './record.ts';
import { type CredentialStore, type Items, isUnavailable, keychainError } from './store.ts';

export interface RecoverDeps extends Reached {
  readonly profile: string;
  readonly binding: Binding;
  readonly store: CredentialStore;
  readonly clock: Clock;
  readonly warn: (text: string) => Promise<void>;
}

/**
 * Under the profile's lock: reads what is stored now, and puts right what an interrupted command has left (the table of
 * docs/sessions.md). A store that cannot be read is an error before anything is touched; an item that is gone as well.
 */
export async function recover(deps: RecoverDeps, items: Items): Promise<Found> {
  const { store } = deps;
  const found = requireFound(await readStored(store, items, deps.binding), deps.profile, store.place);
  if (found.pending && found.unsettled) {
    pass(deps, 'R-promoting');
    const written = await writeRecord(store, items, found.record);
    if (isUnavailable(written)) {
      await deps.warn(
        `the renewed session is still not in the ${store.kind}: ${keychainError(written, deps.profile).message}`,
      );
      return found;
    }
    pass(deps, 'R-promoted');
    store.journal.clear(found.record);
  }
  if (!found.pending || found.unsettled) store.journal.tidy(found.record, deps.clock.now());
  return found;
}
