import { randomBytes } from 'node:crypto';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import type { CredentialRecord } from '../../src/session/credential-record.ts';
import { encodeCredentialRecord } from '../../src/session/credential-record.ts';
import type { CredentialStore } from '../../src/session/credential-store.ts';
import { createFileCredentialStore } from '../../src/session/file-store.ts';
import {
  createProfileAccessTokenProvider,
  type ProfileAccessTokenProvider,
} from '../../src/session/profile-access-token-provider.ts';
import { type ProfilePaths, profilePaths } from '../../src/session/profile-paths.ts';
import type { SessionRefreshDeps } from '../../src/session/session-refresh-deps.ts';
import { createSharedCredentialStore } from '../../src/session/shared-credential-store.ts';
import { createSharedStoreKeys, type SharedStoreKeys } from '../../src/shared-store/shared-store-keys.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { profileNamed } from '../fixtures/profile.ts';
import { recordOf, refreshDeps } from '../fixtures/session.ts';
import { tokenFor } from '../sandbox/requests.ts';
import { createReferenceStore, type ReferenceStore } from '../shared-store/reference-store.ts';

/** A machine that shares the session of the others: folders of its own, one store in memory. */
export interface SharedMachine {
  readonly name: string;
  readonly host: TestHost;
  readonly place: ProfilePaths;
  readonly store: CredentialStore;
  readonly deps: SessionRefreshDeps & { readonly warnings: readonly string[] };
  session(): ProfileAccessTokenProvider;
}

export interface SharedMachines {
  readonly server: ReferenceStore;
  readonly keys: SharedStoreKeys;
  readonly clockOffset: { ms: number };
  /** `own`: the keys of this machine, if they are not those of the share. */
  machine(name: string, changes?: Partial<SessionRefreshDeps>, own?: SharedStoreKeys): SharedMachine;
  /** Stores a session whose access token expires in `seconds`, as a login on the machine does. */
  login(machine: SharedMachine, seconds?: number): Promise<CredentialRecord>;
}

export function sharedMachines(sandbox: SandboxServers): SharedMachines {
  const clockOffset = { ms: 0 };
  const server = createReferenceStore(() => Date.now() + clockOffset.ms);
  const keys = createSharedStoreKeys(randomBytes);
  const machine: SharedMachines['machine'] = (name, changes = {}, own = keys) => {
    const host = testHost();
    const place = profilePaths(host.folders.state, 'default');
    const warnings: string[] = [];
    const warn = async (text: string): Promise<void> => void warnings.push(text);
    const store = createSharedCredentialStore({
      profile: profileNamed('default'),
      place,
      keys: async () => own,
      open: async () => server,
      local: createFileCredentialStore(place),
      location: 'memory',
      machine: () => name,
      clock: host.clock,
      random: host.random,
      warn,
      timing: { leaseMs: 600, renewMs: 100, waitMs: 400, commitMs: 200 },
    });
    const deps = {
      ...refreshDeps(host, sandbox, { store, warn, ...(store.clock === undefined ? {} : { clock: store.clock }) }),
      ...changes,
      warnings,
    };
    return { name, host, place, store, deps, session: () => createProfileAccessTokenProvider(deps) };
  };
  return {
    server,
    keys,
    clockOffset,
    machine,
    async login({ host, store }, seconds = 3600) {
      const grant = await tokenFor(sandbox);
      const record = recordOf(host, sandbox, grant, {
        sid: randomBytes(8).toString('hex'),
        expiresAt: Math.floor((Date.now() + clockOffset.ms) / 1000) + seconds,
      });
      const written = await store.withItems((items) => items.write('credential', encodeCredentialRecord(record)));
      if (written.kind !== 'done') throw new Error(written.kind);
      return record;
    },
  };
}
