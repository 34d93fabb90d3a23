import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import {
  type CredentialRecord,
  decodeCredentialRecord,
  encodeCredentialRecord,
} from '../../../src/auth/session/credential-record.ts';
import type { CredentialStore } from '../../../src/auth/session/credential-store.ts';
import type { Failpoint } from '../../../src/auth/session/failpoints.ts';
import { createFileCredentialStore } from '../../../src/auth/session/file-store.ts';
import { type ProfilePaths, profilePaths } from '../../../src/auth/session/profile-paths.ts';
import type { SessionRefreshDeps } from '../../../src/auth/session/refresh-session.ts';
import { Secret } from '../../../src/base/secret.ts';
import { type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { memoryKeychain, type TestHost, testHost } from '../../fixtures/host.ts';
import { keychainStoreOf, recordOf, refreshDeps } from '../../fixtures/session.ts';

/** An authorization server and resource API in a few lines: refresh tokens serve once, and take the access token with them. */
export interface SingleUse {
  readonly origin: string;
  /** How many refreshes were granted: the number of the tokens that live. */
  generation: number;
  /** Access tokens up to this generation have expired. */
  expired: number;
  /** Requests that came, by path. */
  readonly seen: string[];
  /** Answers the next requests of the token endpoint instead. */
  readonly instead: RequestHandler[];
  /** Merged into each grant. */
  extra: object;
}

export async function singleUseServer(): Promise<SingleUse> {
  const state = { generation: 1, expired: 0, seen: [] as string[], instead: [] as RequestHandler[], extra: {} };
  const { origin } = await serverFor((request, response, count) => {
    const url = new URL(request.url, 'http://server');
    state.seen.push(url.pathname);
    const bearer = request.headers.authorization;
    if (url.pathname !== '/v1/oauth/token')
      return bearer === `Bearer at-${state.generation}` && state.generation > state.expired
        ? reply(response, 200, { actions: [], meta: { total: 0 } })
        : reply(response, 404, { id: 'not_found', message: 'no' });
    const special = state.instead.shift();
    if (special !== undefined) return special(request, response, count);
    if (url.searchParams.get('refresh_token') !== `rt-${state.generation}`)
      return reply(response, 400, { error: 'invalid_grant', error_description: 'used' });
    state.generation += 1;
    return reply(response, 200, grantOf(state));
  });
  return Object.assign(state, { origin });
}

function grantOf({ generation, extra }: Pick<SingleUse, 'generation' | 'extra'>): object {
  const tokens = { access_token: `at-${generation}`, refresh_token: `rt-${generation}` };
  return { ...tokens, token_type: 'bearer', expires_in: 3600, scope: 'read', ...extra };
}

/** The server processes the refresh, and its answer never arrives whole. */
export const commitsAndDrops =
  (server: SingleUse): RequestHandler =>
  (_, response) => {
    server.generation += 1;
    response.destroy();
  };

export type StoreKind = 'keychain' | 'file';

export interface SessionMachine {
  readonly host: TestHost;
  readonly place: ProfilePaths;
  readonly items: Map<string, string>;
  readonly store: CredentialStore;
  readonly deps: SessionRefreshDeps & { readonly warnings: string[] };
  /** What makes the keychain fail. */
  trouble: 'locked' | 'missing' | 'hung' | 'failed' | undefined;
  /** The record in the store itself. */
  stored(): CredentialRecord | undefined;
  /** The files of the session, but for the permanent ones. */
  traces(): readonly string[];
  /** Another process of this machine. */
  sibling(changes?: Partial<SessionRefreshDeps>): SessionRefreshDeps & { readonly warnings: string[] };
}

/** A machine whose session expired ten seconds ago, unless `record` says otherwise. */
export async function machineWith(
  server: SingleUse,
  kind: StoreKind,
  record: Partial<CredentialRecord> = {},
  changes: Partial<SessionRefreshDeps> = {},
): Promise<SessionMachine> {
  const machine = machineOn(server, kind, changes);
  const tokens = { access_token: 'at-1', refresh_token: 'rt-1', scope: 'read', expires_in: -10 };
  const sandbox = { ready: { ...readyLine, auth_url: server.origin, base_url: server.origin } };
  const old = recordOf(machine.host, sandbox, { ...tokens, token_type: 'bearer', info: {} }, record);
  await machine.store.withItems((items) => items.write('credential', encodeCredentialRecord(old)));
  return machine;
}

const readyLine = {
  panel_url: '',
  admin_url: '',
  admin_token: '',
  client_id: 'client-1',
  client_secret: '',
  callback_url: '',
  users: [],
  clusters: [],
};

/** A machine without a session, or with what `restore` puts there. */
export function machineOn(
  server: SingleUse,
  kind: StoreKind,
  changes: Partial<SessionRefreshDeps> = {},
): SessionMachine {
  const items = new Map<string, string>();
  const keychain = memoryKeychain(items, () => machine.trouble);
  const host = testHost({ keychain });
  const place = profilePaths(host.folders.state, 'default');
  const store = kind === 'file' ? createFileCredentialStore(place) : keychainStoreOf(host);
  const sandbox = { ready: { ...readyLine, auth_url: server.origin, base_url: server.origin } };
  const sibling = (more: Partial<SessionRefreshDeps> = {}) =>
    refreshDeps(host, sandbox, { store, ...changes, ...more });
  const machine: SessionMachine = {
    host,
    place,
    items,
    store,
    deps: sibling(),
    trouble: undefined,
    stored: () => {
      const text = kind === 'keychain' ? items.get('default#test') : readIfAny(place.credentialFile);
      return text === undefined ? undefined : decodeCredentialRecord(text);
    },
    traces: () => (existsSync(place.folder) ? readdirSync(place.folder).filter((name) => /wal|tmp/.test(name)) : []),
    sibling,
  };
  return machine;
}

/** The disk, the keychain and the server as they were at one moment: what a process that died then leaves behind. */
export interface MachineSnapshot {
  readonly folder: string;
  readonly items: ReadonlyMap<string, string>;
  readonly generation: number;
}

/** Runs with a copy made at `point`; undefined when it was never reached. */
export function snapshotAt(machine: SessionMachine, server: SingleUse, point: Failpoint, scratch: TestHost) {
  let moment: MachineSnapshot | undefined;
  const reached = (at: Failpoint): void => {
    if (at !== point || moment !== undefined) return;
    const folder = `${scratch.folders.state}/moment`;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    if (existsSync(machine.place.folder)) cpSync(machine.place.folder, folder, { recursive: true });
    moment = { folder, items: new Map(machine.items), generation: server.generation };
  };
  return { reached, moment: () => moment };
}

/** Another machine as that moment has left it; the server goes back with it. */
export function machineFromSnapshot(server: SingleUse, kind: StoreKind, moment: MachineSnapshot): SessionMachine {
  const machine = machineOn(server, kind);
  cpSync(moment.folder, machine.place.folder, { recursive: true });
  for (const [account, value] of moment.items) machine.items.set(account, value);
  server.generation = moment.generation;
  return machine;
}

/** The tokens of the server's own generation, which is what a session must end with. */
export function expectAlive(record: CredentialRecord, server: SingleUse): void {
  expect(record.accessToken.reveal()).toBe(`at-${server.generation}`);
  expect(record.refreshToken?.reveal()).toBe(`rt-${server.generation}`);
}

export const unexpired = (): Partial<CredentialRecord> => ({ expiresAt: Math.floor(Date.now() / 1000) + 3600 });

export const token = (text: string): Secret => new Secret(text);

function readIfAny(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
