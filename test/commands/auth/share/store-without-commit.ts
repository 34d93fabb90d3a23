import { DatabaseConnectError } from '../../../../src/platform/connect-error.ts';
import type { HeldFileLock } from '../../../../src/platform/file-lock.ts';
import { refreshClaimTiming } from '../../../../src/session/claim-token-refresh.ts';
import type { CredentialStore } from '../../../../src/session/credential-store.ts';
import { createFileCredentialStore } from '../../../../src/session/file-store.ts';
import { createProfileAccessTokenProvider } from '../../../../src/session/profile-access-token-provider.ts';
import { profilePaths } from '../../../../src/session/profile-paths.ts';
import { createSharedCredentialStore } from '../../../../src/session/shared-credential-store.ts';
import { openSharedStore } from '../../../../src/shared-store/open-shared-store.ts';
import { decodeShareEncryptionKeys } from '../../../../src/shared-store/share-encryption-keys.ts';
import { parseSharedStoreUrl } from '../../../../src/shared-store/store-url.ts';
import type { TestHost } from '../../../fixtures/host.ts';
import { profileNamed } from '../../../fixtures/profile.ts';
import { refreshDeps } from '../../../fixtures/session.ts';
import type { ShareFixture } from './share-fixture.ts';

/** The shared store of a machine whose connection ends at each commit, before the server has received it. */
export function storeWithoutCommit(fixture: ShareFixture, host: TestHost): CredentialStore {
  const place = profilePaths(host.folders.state, 'default');
  const keys = decodeShareEncryptionKeys(fixture.keysOf(host));
  if (keys === undefined) throw new Error('the machine has no keys');
  const away = new DatabaseConnectError('network', 'ECONNREFUSED', 'the store is away');
  return createSharedCredentialStore({
    profile: profileNamed('default'),
    place,
    keys: async () => keys,
    open: async (key) => {
      const real = await openSharedStore(
        parseSharedStoreUrl(fixture.url, () => undefined),
        key,
      );
      return { ...real, run: (operation) => (operation.op === 'commit' ? Promise.reject(away) : real.run(operation)) };
    },
    local: createFileCredentialStore(place),
    location: 'Redis',
    machine: () => 'ci-1#test',
    clock: host.clock,
    random: host.random,
    warn: async () => undefined,
    timing: { ...refreshClaimTiming, commitMs: 100 },
  });
}

/** A refresh whose record could not be stored, because the store went away: the grant is only in the journal of the machine. */
export async function refreshWithoutStore(fixture: ShareFixture, host: TestHost, lock?: HeldFileLock): Promise<void> {
  const store = storeWithoutCommit(fixture, host);
  const held = lock === undefined ? {} : { lock: async () => ({ ...lock, release: () => undefined }) };
  await createProfileAccessTokenProvider({ ...refreshDeps(host, fixture.sandbox, { store }), ...held }).forceRefresh();
}
