import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import type { Failpoint } from '../../../src/auth/session/failpoints.ts';
import {
  createFileJournal,
  encodeHead,
  encrypt,
  type JournalDisk,
  proofOf,
} from '../../../src/auth/session/journal.ts';
import { journalPath, type ProfilePaths, profilePaths } from '../../../src/auth/session/paths.ts';
import { decodeRecord, encodeRecord, type SessionRecord } from '../../../src/auth/session/record.ts';
import type { SessionRun } from '../../../src/auth/session/run.ts';
import { type CredentialStore, createFileStore } from '../../../src/auth/session/store.ts';
import { Secret } from '../../../src/base/secret.ts';
import { removeDurably, renameDurably, reserveFile } from '../../../src/platform/files.ts';
import { readSecretBytes } from '../../../src/platform/secret-file.ts';
import { type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { memoryKeychain, type TestHost, testHost } from '../../fixtures/host.ts';
import { keychainStoreOf, recordOf, sessionRun, storedRecord } from '../../fixtures/session.ts';

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
  readonly run: SessionRun & { readonly warnings: string[] };
  /** What makes the keychain fail. */
  trouble: 'locked' | 'missing' | 'hung' | 'failed' | undefined;
  /** The record in the store itself. */
  stored(): SessionRecord | undefined;
  /** The files of the session, but for the permanent ones. */
  traces(): readonly string[];
  /** Another process of this machine. */
  sibling(changes?: Partial<SessionRun>): SessionRun & { readonly warnings: string[] };
}

/** A machine whose session expired ten seconds ago, unless `record` says otherwise. */
export async function machineWith(
  server: SingleUse,
  kind: StoreKind,
  record: Partial<SessionRecord> = {},
  changes: Partial<SessionRun> = {},
): Promise<SessionMachine> {
  const machine = machineOn(server, kind, changes);
  const tokens = { access_token: 'at-1', refresh_token: 'rt-1', scope: 'read', expires_in: -10 };
  const sandbox = { ready: { ...readyLine, auth_url: server.origin, base_url: server.origin } };
  const old = recordOf(machine.host, sandbox, { ...tokens, token_type: 'bearer', info: {} }, record);
  await machine.store.withItems((items) => items.write('credential', encodeRecord(old)));
  return machine;
}

const readyLine = {
  panel_url: '',
  admin_url: '',
  admin_token: '',
  client_id: 'client-1',
  client_secret: '',
  callback_url: '',
  applications: [],
  users: [],
  clusters: [],
};

/** A machine without a session, or with what `restore` puts there. */
export function machineOn(server: SingleUse, kind: StoreKind, changes: Partial<SessionRun> = {}): SessionMachine {
  const items = new Map<string, string>();
  const keychain = memoryKeychain(items, () => machine.trouble);
  const host = testHost({ keychain });
  const place = profilePaths(host.folders.state, 'default');
  const store = kind === 'file' ? createFileStore(place) : keychainStoreOf(host);
  const sandbox = { ready: { ...readyLine, auth_url: server.origin, base_url: server.origin } };
  const sibling = (more: Partial<SessionRun> = {}) => sessionRun(host, sandbox, { store, ...changes, ...more });
  const machine: SessionMachine = {
    host,
    place,
    items,
    store,
    run: sibling(),
    trouble: undefined,
    stored: () => {
      const text = kind === 'keychain' ? items.get('default#test') : readIfAny(place.credentialFile);
      return text === undefined ? undefined : decodeRecord(text);
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
export function expectAlive(record: SessionRecord, server: SingleUse): void {
  expect(record.accessToken.reveal()).toBe(`at-${server.generation}`);
  expect(record.refreshToken?.reveal()).toBe(`rt-${server.generation}`);
}

export const unexpired = (): Partial<SessionRecord> => ({ expiresAt: Math.floor(Date.now() / 1000) + 3600 });

export const token = (text: string): Secret => new Secret(text);

function readIfAny(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

export interface LeftEntry {
  readonly gen?: number;
  readonly sid?: string;
  readonly at?: number;
  readonly proof?: string;
  /** The generation of the tokens in the record that is kept; absent: zeros. */
  readonly grants?: number;
  /** Merged into that record. */
  readonly changes?: Partial<SessionRecord>;
  /** In place of that record. */
  readonly text?: string;
  readonly room?: number;
  /** The entry follows those that are there already. */
  readonly isSecond?: boolean;
}

/** The journal as an interrupted refresh leaves it. */
export function leaveEntry(machine: SessionMachine, entry: LeftEntry = {}): string {
  const stored = machine.stored();
  if (stored?.refreshToken === undefined) throw new Error('no session');
  const now = Math.floor(Date.now() / 1000);
  const { gen = stored.gen + 1, sid = stored.sid, at = now, room = 4096, grants } = entry;
  const head = encodeHead({ sid, gen, proof: entry.proof ?? proofOf(stored.refreshToken), sentAt: at, room });
  const tokens = { accessToken: token(`at-${grants}`), refreshToken: token(`rt-${grants}`) };
  const next = { ...stored, gen, ...tokens, expiresAt: now + 3600, obtainedAt: now, ...entry.changes };
  const text = entry.text ?? (grants === undefined ? undefined : encodeRecord(next).reveal());
  const nonce = machine.host.random(12);
  const rest = text === undefined ? Buffer.alloc(room) : encrypt(head, stored.journalKey, text, room, nonce);
  const path = journalPath(machine.place, sid);
  mkdirSync(machine.place.folder, { recursive: true });
  if (entry.isSecond !== true) rmSync(path, { force: true });
  appendFileSync(path, Buffer.concat([Buffer.from(head), rest]), { mode: 0o600 });
  return path;
}

const realDisk: JournalDisk = {
  create: reserveFile,
  read: readSecretBytes,
  rename: renameDurably,
  remove: removeDurably,
};

/** The same store with other file operations for its journals. */
export function storeOnDisk(store: CredentialStore, changes: Partial<JournalDisk>): CredentialStore {
  const disk = { ...realDisk, ...changes };
  return {
    ...store,
    journal: (sid, onStage) => createFileJournal(journalPath(store.place, sid), { onStage, disk }),
  };
}

/** Each operation in `of` fails with this code. */
export function failingDisk(code: string, ...of: readonly (keyof JournalDisk)[]): Partial<JournalDisk> {
  const fail = (): never => {
    throw Object.assign(new Error(`${code}: no`), { code });
  };
  return Object.fromEntries(of.map((name) => [name, fail]));
}

/** A disk on which no record can be written to its reserved space. */
export const diskThatFillsNothing: Partial<JournalDisk> = {
  create: (path, head, room) => ({ ...reserveFile(path, head, room), fill: fails }),
};

function fails(): never {
  throw Object.assign(new Error('ENOSPC: no'), { code: 'ENOSPC' });
}

export interface SessionAtServer {
  readonly host: TestHost;
  readonly run: SessionRun & { readonly warnings: string[] };
  readonly record: SessionRecord;
  readonly place: ProfilePaths;
  stored(): SessionRecord | undefined;
}

/** A session in the file store that has expired, at an authorization server of the test. */
export async function sessionAt(
  origin: string,
  record: Partial<SessionRecord> = {},
  changes: Partial<SessionRun> = {},
): Promise<SessionAtServer> {
  const host = testHost();
  const sandbox = { ready: { ...readyLine, auth_url: origin, base_url: 'http://127.0.0.1:1' } };
  const tokens = { access_token: 'at-1', refresh_token: 'rt-1', scope: 'read', expires_in: -10 };
  const old = recordOf(host, sandbox, { ...tokens, token_type: 'bearer', info: {} }, record);
  const place = profilePaths(host.folders.state, 'default');
  await createFileStore(place).withItems((items) => items.write('credential', encodeRecord(old)));
  return { host, run: sessionRun(host, sandbox, changes), record: old, place, stored: () => storedRecord(place) };
}

/** The response of a server that grants the refresh of such a session. */
export const grantedTokens = {
  access_token: 'at-2',
  refresh_token: 'rt-2',
  token_type: 'bearer',
  expires_in: 3600,
  scope: 'read',
  info: { uuid: 'u-2' },
};

export const grantsTokens: RequestHandler = (_, response) => reply(response, 200, grantedTokens);
