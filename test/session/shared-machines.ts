import { randomBytes } from 'node:crypto';
import type { SandboxServers } from '../../src/sandbox/sandbox.ts';
import type { CredentialRecord } from '../../src/session/credential-record.ts';
import { encodeCredentialRecord } from '../../src/session/credential-record.ts';
import type { CredentialItemWriteResult, CredentialStore } from '../../src/session/credential-store.ts';
import { createFileCredentialStore } from '../../src/session/file-store.ts';
import { type LogoutDeps, type LogoutOutcome, performLogout } from '../../src/session/logout.ts';
import {
  createProfileAccessTokenProvider,
  type ProfileAccessTokenProvider,
} from '../../src/session/profile-access-token-provider.ts';
import { type ProfilePaths, profilePaths } from '../../src/session/profile-paths.ts';
import { sendAccessTokenProbe } from '../../src/session/send-access-token-probe.ts';
import type { SessionRefreshDeps } from '../../src/session/session-refresh-deps.ts';
import { createSharedCredentialStore } from '../../src/session/shared-credential-store.ts';
import { generateShareEncryptionKeys, type ShareEncryptionKeys } from '../../src/shared-store/share-encryption-keys.ts';
import type { SharedSessionOperation, SharedSessionOperationResult } from '../../src/shared-store/shared-session.ts';
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
  readonly deps: SessionRefreshDeps & { readonly warnings: string[] };
  session(): ProfileAccessTokenProvider;
}

export interface SharedMachines {
  readonly server: ReferenceStore;
  readonly keys: ShareEncryptionKeys;
  readonly clockOffset: { ms: number };
  /** `own`: the keys of this machine, if they are not those of the share. */
  machine(name: string, changes?: Partial<SessionRefreshDeps>, own?: ShareEncryptionKeys): SharedMachine;
  /** Stores a session whose access token expires in `seconds`, as a login on the machine does. */
  login(machine: SharedMachine, seconds?: number): Promise<CredentialRecord>;
  /** The same, with whatever the store answers. */
  tryLogin(
    machine: SharedMachine,
    seconds?: number,
    options?: { readonly isSpecServer: boolean },
  ): Promise<{ readonly record: CredentialRecord; readonly written: CredentialItemWriteResult }>;
}

export function sharedMachines(sandbox: SandboxServers): SharedMachines {
  const clockOffset = { ms: 0 };
  const server = createReferenceStore(() => Date.now() + clockOffset.ms);
  const keys = generateShareEncryptionKeys(randomBytes);
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
      signals: host.signals,
      timing: { leaseMs: 600, renewMs: 100, waitMs: 400, commitMs: 600 },
    });
    const deps = {
      ...refreshDeps(host, sandbox, { store, warn, ...(store.clock === undefined ? {} : { clock: store.clock }) }),
      ...changes,
      warnings,
    };
    return { name, host, place, store, deps, session: () => createProfileAccessTokenProvider(deps) };
  };
  const tryLogin: SharedMachines['tryLogin'] = async (
    { host, store },
    seconds = 3600,
    { isSpecServer } = { isSpecServer: true },
  ) => {
    const grant = await tokenFor(sandbox);
    const expiresAt = Math.floor((Date.now() + clockOffset.ms) / 1000) + seconds;
    const times = { expiresAt, obtainedAt: expiresAt - 3600 };
    const { accountUuid, ...rest } = recordOf(host, sandbox, grant, { sid: randomBytes(8).toString('hex'), ...times });
    const record = isSpecServer && accountUuid !== undefined ? { ...rest, accountUuid } : rest;
    const written = await store.withItems((items) => items.write('credential', encodeCredentialRecord(record)));
    return { record, written };
  };
  return {
    server,
    keys,
    clockOffset,
    machine,
    tryLogin,
    async login(on, seconds) {
      const { record, written } = await tryLogin(on, seconds);
      if (written.kind !== 'done') throw new Error(written.kind);
      return record;
    },
  };
}

/** Replaces what the store does; the returned function ends that. */
export function interceptOperations(
  server: ReferenceStore,
  replacement: (operation: SharedSessionOperation, run: ReferenceStore['run']) => Promise<SharedSessionOperationResult>,
): () => void {
  const { run } = server;
  Object.assign(server, { run: (operation: SharedSessionOperation) => replacement(operation, run) });
  return () => void Object.assign(server, { run });
}

/** `auth logout` on a machine, with the real API. */
export function logoutOn(machine: SharedMachine, changes: Partial<LogoutDeps> = {}): Promise<LogoutOutcome> {
  const { binding, store, createSender, lock, requireSafe } = machine.deps;
  const { authOrigin, clientId, baseOrigin } = binding;
  const deps: LogoutDeps = {
    store,
    createSender,
    lock,
    requireSafe,
    client: async () => ({ authOrigin, clientId, tokenParams: 'query' }),
    removeAccount: () => undefined,
    probe: async ({ accessToken }) =>
      sendAccessTokenProbe(
        await machine.host.createSender({ env: {} }),
        baseOrigin,
        accessToken,
        AbortSignal.timeout(5_000),
      ),
    ...changes,
  };
  return performLogout(deps, false);
}
