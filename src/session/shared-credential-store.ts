import { CliError } from '../base/errors.ts';
import type { ProfileReference } from '../config/settings.ts';
import type { Clock, Signals } from '../platform/host.ts';
import type { ShareEncryptionKeys } from '../shared-store/share-encryption-keys.ts';
import type { SharedSessionEntryKey, SharedSessionStore } from '../shared-store/shared-session.ts';
import { catchSharedStoreUnavailable } from './catch-shared-store-unavailable.ts';
import { claimTokenRefresh, type RefreshClaimTiming } from './claim-token-refresh.ts';
import {
  type CredentialItemReadResult,
  type CredentialStore,
  credentialStoreUnavailableError,
  type OpenCredentialStore,
} from './credential-store.ts';
import type { ProfilePaths } from './profile-paths.ts';
import type { RefreshClaimResult, SharedStoreUnavailable } from './refresh-claim.ts';
import { createSharedSessionEncryptor } from './sealed-session.ts';
import { readLocalCopyOfSharedSession } from './shared-copy.ts';
import { createSharedSessionClient, type SharedSessionClient } from './shared-session-client.ts';
import { createSharedStoreClock } from './shared-store-clock.ts';
import { createWriteAheadFileJournal } from './write-ahead-journal.ts';

export interface SharedCredentialStoreOptions {
  readonly profile: ProfileReference;
  readonly place: ProfilePaths;
  /** The keys of the share. Throws a CliError when this machine has not joined. */
  readonly keys: () => Promise<ShareEncryptionKeys>;
  /** Throws a CliError for a missing or wrong CLOUDCTL_STORE_URL. */
  readonly open: (key: SharedSessionEntryKey) => Promise<SharedSessionStore>;
  /** The store of this machine for the client secret. */
  readonly local: CredentialStore;
  readonly location: string;
  /** The name of this machine, which other machines show when it does not report a refresh. */
  readonly machine: () => string;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly warn: (text: string) => Promise<void>;
  /** Whether `warn` prints nothing. */
  readonly isSilent?: boolean;
  readonly timing?: RefreshClaimTiming;
  /** A signal ends the repetition of the commit of a login or a logout. */
  readonly signals?: Signals;
}

/**
 * The credential store of several machines, in PostgreSQL or Redis (docs/guides/fleet.md). On this machine there are a copy of
 * the newest record that it has seen, and the write-ahead files of its own refreshes.
 */
export function createSharedCredentialStore(given: SharedCredentialStoreOptions): CredentialStore {
  const options = { ...given, machine: createMachineNameReader(given) };
  const { profile, place, local, location } = options;
  const journal = createWriteAheadFileJournal(place);
  let share: string | undefined;
  let loginFailure: SharedStoreUnavailable | undefined;
  const clock = createSharedStoreClock(options.clock, () =>
    share === undefined ? undefined : readLocalCopyOfSharedSession(place, share)?.clockOffset,
  );
  const useStore = async <T>(work: (access: SharedSessionClient) => Promise<T>): Promise<T> => {
    const keys = await options.keys();
    ({ share } = keys);
    const store = await options.open({ share, profile: profile.name });
    const sealer = createSharedSessionEncryptor(keys, profile.name, options.random);
    try {
      return await work(createSharedSessionClient({ ...options, share, journal, store, sealer, clock }));
    } finally {
      await store.close();
    }
  };
  return {
    profile,
    kind: 'shared',
    location,
    maxLength: undefined,
    journal,
    clock,
    // A missing key is reported before the user signs in in the browser.
    checkWritable: () => loginFailure,
    synchronize: ({ isForLogin } = { isForLogin: false }) =>
      useStore(async (access) => {
        const read = await access.read({ mayUseCopy: false, requireConfirmed: true, requireStore: isForLogin });
        loginFailure = access.findLoginFailure();
        return read.kind === 'unavailable' ? read : undefined;
      }),
    withItems: (work, lock) =>
      useStore((access) =>
        local.withItems(
          (localItems) => work(sharedItems(options, access, localItems, { isLocked: lock !== undefined, clock })),
          lock,
        ),
      ),
  };
}

/** The name contains an id in the state folder, so it is read only when it is needed. */
function createMachineNameReader({ machine, profile }: SharedCredentialStoreOptions): () => string {
  let name: string | undefined;
  return () => {
    try {
      name ??= machine();
      return name;
    } catch (error) {
      if (error instanceof CliError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw credentialStoreUnavailableError({ kind: 'unavailable', why: 'file', reason }, profile);
    }
  };
}

function sharedItems(
  { random, machine, timing, location }: SharedCredentialStoreOptions,
  access: SharedSessionClient,
  localItems: OpenCredentialStore,
  { isLocked, clock }: { readonly isLocked: boolean; readonly clock: ReturnType<typeof createSharedStoreClock> },
): OpenCredentialStore {
  const claimDeps = {
    store: access,
    sleep: (ms: number) => clock.sleep(ms),
    elapsed: clock.elapsed,
    random,
    ...(timing === undefined ? {} : { timing }),
  };
  let hasUnsentIntent = false;
  return {
    read: async (item): Promise<CredentialItemReadResult> =>
      item === 'credential' ? access.read({ mayUseCopy: !isLocked }) : localItems.read(item),
    write: async (item, value) => (item === 'credential' ? access.writeLogin(value) : localItems.write(item, value)),
    remove: async (item) => (item === 'credential' ? access.writeTombstone() : localItems.remove(item)),
    shared: {
      knownRecord: () => access.knownRecord(),
      commit: (next, isRefresh) => access.commit(next, isRefresh),
      claim: async (record, { hasUnfinishedRefresh, maySendRefusedToken }): Promise<RefreshClaimResult> =>
        catchSharedStoreUnavailable(location, async () => {
          const { epoch = 0, sid, gen } = record;
          const isIntentOwn = hasUnfinishedRefresh || hasUnsentIntent;
          const result = await claimTokenRefresh(
            { ...claimDeps, machine: machine(), hasUnfinishedRefresh: isIntentOwn, maySendRefusedToken },
            { epoch, sid, gen },
          );
          // A row that this machine cannot decrypt has changed for every record that it knows.
          if (result.kind === 'changed') return access.findFailureOfLastRow() ?? result;
          if (result.kind !== 'claimed') return result;
          const confirm = async () => {
            const isConfirmed = await result.claim.confirm();
            // Another machine has the lease, so the intent cannot be removed.
            hasUnsentIntent ||= !isConfirmed;
            return isConfirmed;
          };
          const refuse = () =>
            catchSharedStoreUnavailable(location, async () => {
              const { kind, wait } = await result.claim.refuse();
              return { kind, wait: () => catchSharedStoreUnavailable(location, wait) };
            });
          return { ...result, claim: { ...result.claim, confirm, refuse } };
        }),
    },
  };
}
