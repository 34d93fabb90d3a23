import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import type { DbSource } from '../../../src/db/source/options.ts';
import { createBaseline, type SourceBaseline } from '../../../src/db/watch/postgresql/baseline.ts';
import {
  loadBaseline,
  pathOfBaseline,
  pathOfRecord,
  readRecord,
  storeBaseline,
  type WatchRecord,
  writeRecord,
} from '../../../src/db/watch/record.ts';
import { saveWatchedTarget, sourceAddress, updateRecordedSlots } from '../../../src/db/watch/source.ts';
import {
  findRequests,
  lockRequest,
  plausibleStart,
  readInterrupted,
  readRequest,
  resolveRequest,
  settleRequest,
  startMigration,
  type UnconfirmedRequest,
  writeRequest,
} from '../../../src/db/watch/start.ts';
import { apiOf } from '../../api/api-of.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { holdWatchRecordLock } from './hold-watch-record-lock.ts';
import { makeDatabaseFacts, makeServerFacts } from './postgresql/make-facts.ts';
import { makeStatusSample } from './view/status-samples.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';

const baseline = createBaseline(makeServerFacts(), [makeDatabaseFacts({})]);

describe('the start', () => {
  const source = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;

  async function openFixture(answer: RequestHandler) {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const stateFolder = folders.state;
    let storedAtPut: unknown;
    const { origin, seen } = await serverFor((request, response, count) => {
      if (request.url.startsWith('/v2/actions')) return reply(response, 200, { actions: [] });
      if (request.method === 'PUT') storedAtPut = readRequest(stateFolder, origin, cluster);
      return answer(request, response, count);
    });
    const api = await apiOf(origin);
    const unsaved: string[] = [];
    const start = () =>
      startMigration(
        {
          io: {
            host: { folders, clock: { now: Date.now } },
            output: { warn: async (text) => void unsaved.push(...[text].flat()) },
          },
          actor: { api: async () => api, loginHints: () => workLoginHints, command: (...words) => words.join(' ') },
        },
        {
          ...{ cluster, baseOrigin: origin, source, identity: {}, sourceOptions: [], before: ['cdc'] },
          baseline: { ...baseline, at: 2000 },
        },
        { source: { host: source.host, dbname: source.dbname } },
      );
    const pending = () => readRequest(stateFolder, origin, cluster);
    const record = () => readRecord(pathOfRecord(stateFolder, source));
    const resolve = () =>
      resolveRequest(
        { api, stateFolder, now: Date.now(), identity: { baseOrigin: origin, accountUuid: 'ada', team: 'personal' } },
        cluster,
      );
    const baselinePath = pathOfBaseline(stateFolder, source, cluster);
    return {
      ...{ stateFolder, start, seen, pending, record, unsaved, resolve, baselinePath },
      storedAtPut: () => storedAtPut,
    };
  }

  const accept: RequestHandler = (_request, response) =>
    reply(response, 200, { id: 'm-1', status: 'running', created_at: new Date().toISOString() });

  describe('the request', () => {
    it('is stored when it is sent, and becomes the record when it is accepted', async () => {
      const { start, storedAtPut, pending, record } = await openFixture(accept);
      expect(await start()).toMatchObject({ id: 'm-1' });
      expect(storedAtPut()).toMatchObject({ cluster, source });
      expect(pending()).toBeUndefined();
      expect(record()).toMatchObject({ started: { id: 'm-1', cluster }, before: ['cdc'] });
    });

    it.each([403, 404, 409, 422, 429])('is removed by a refusal with %i', async (status) => {
      const { start, pending, record } = await openFixture((_request, response) =>
        reply(response, status, { id: 'x', message: 'no' }),
      );
      await expect(start()).rejects.toMatchObject({ status });
      expect([pending(), record()]).toEqual([undefined, undefined]);
    });

    it('stays when its result is not known', async () => {
      const { start, pending } = await openFixture(({ method }, response) =>
        method === 'PUT' ? void response.destroy() : reply(response, 404, { id: 'not_found' }),
      );
      await expect(start()).rejects.toMatchObject({ code: 'unreachable' });
      expect(pending()).toMatchObject({ cluster, source });
    });

    it('is not taken for an interrupted one while it waits for its response', async () => {
      let [whileWaiting, stored]: unknown[] = ['not asked'];
      const { start, record, pending, resolve } = await openFixture(async (request, response, count) => {
        if (request.method !== 'PUT') return reply(response, 404, { id: 'not_found' });
        whileWaiting = await resolve();
        stored = pending();
        return accept(request, response, count);
      });
      expect(await start()).toMatchObject({ id: 'm-1' });
      expect([whileWaiting, stored]).toEqual([undefined, expect.objectContaining({ cluster })]);
      expect([pending(), record()?.started?.id]).toEqual([undefined, 'm-1']);
    });

    it('is not sent while another process waits for the response of one into the same cluster', async () => {
      let second: Promise<unknown> | undefined;
      const { start, seen, pending } = await openFixture(async (request, response, count) => {
        // The response to a second request must not wait for itself.
        if (second === undefined) {
          second = start().catch((error: unknown) => error);
          await second;
        }
        accept(request, response, count);
      });
      expect(await start()).toMatchObject({ id: 'm-1' });
      expect(await second).toMatchObject({ code: 'busy' });
      expect(seen.filter(({ method }) => method === 'PUT')).toHaveLength(1);
      expect(pending()).toBeUndefined();
    });

    it('is not sent when another one into the cluster was interrupted meanwhile, and keeps its record', async () => {
      const { start, seen, pending } = await openFixture(({ method }, response) =>
        method === 'PUT' ? void response.destroy() : reply(response, 404, { id: 'not_found' }),
      );
      await expect(start()).rejects.toMatchObject({ code: 'unreachable' });
      const first = pending();
      await expect(start()).rejects.toMatchObject({ code: 'busy' });
      expect(pending()).toEqual(first);
      expect(seen.filter(({ method }) => method === 'PUT')).toHaveLength(1);
    });

    it.each<[string, RequestHandler, number]>([
      ['replaces the baseline of an earlier migration when it is accepted', (...all) => accept(...all), 2000],
      ['keeps it when it is refused', (_request, response) => reply(response, 409, { id: 'conflict' }), 1000],
      ['keeps it while the result is not known', (_request, response) => void response.destroy(), 1000],
    ])('%s', async (_what, answer, expected) => {
      const { start, baselinePath } = await openFixture(answer);
      storeBaseline(baselinePath, { ...baseline, at: 1000 });
      await start().catch(() => {});
      expect(loadBaseline(baselinePath)?.at).toBe(expected);
    });

    it('is not sent when it cannot be stored', async () => {
      const { stateFolder, start, seen } = await openFixture(accept);
      mkdirSync(stateFolder, { recursive: true });
      writeFileSync(join(stateFolder, 'migrations'), '');
      await expect(start()).rejects.toMatchObject({ code: 'storage', exitCode: 7 });
      expect(seen).toEqual([]);
    });

    it('was accepted although its result cannot be stored: that is told', async () => {
      let folder = '';
      const { stateFolder, start, unsaved } = await openFixture((request, response, count) => {
        rmSync(join(folder, 'migrations'), { recursive: true });
        writeFileSync(join(folder, 'migrations'), '');
        accept(request, response, count);
      });
      folder = stateFolder;
      expect(await start()).toMatchObject({ id: 'm-1' });
      expect(unsaved).toHaveLength(1);
      expect(existsSync(join(folder, 'migrations'))).toBe(true);
    });
  });

  it.each([
    ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['2001-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
    ['9', '2026-01-02T00:00:00Z'],
    [undefined, '2026-01-02T00:00:00Z'],
  ])('a start at %s according to the service counts as %s', (createdAt, expected) => {
    expect(new Date(plausibleStart(createdAt, Date.parse('2026-01-02T00:00:00Z')))).toEqual(new Date(expected));
  });
});

describe('slots', () => {
  const source: DbSource = {
    engine: 'redis',
    source: {
      ...{ host: 'cache.example.com', port: 6379, username: 'mover', password: new Secret('hunter2'), db: undefined },
      ssl: 'disable',
    },
  };

  const record: WatchRecord = { engine: 'redis', source: 'cache.example.com:6379' };
  const slots = [{ name: 'replica', database: '' }];
  const poll = { sample: makeStatusSample(), idlePolls: 0, caughtUpPolls: 0, reached: true, activeSlots: slots };

  function openFixture() {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const path = pathOfRecord(folders.state, sourceAddress(source));
    writeRecord(path, record);
    return { state: folders.state, path };
  }

  const started = { at: '2026-01-01T00:00:00.000Z', cluster, id: 'm-1', identity: {} };

  it('a poll that records slots keeps the start that `db migrate` records at the same time', async () => {
    const { path } = openFixture();
    const migrate = await holdWatchRecordLock(path, { ...record, started });
    updateRecordedSlots(path, source, poll);
    await migrate.end();
    expect(readRecord(path)).toMatchObject({ started: { id: 'm-1' }, slots });
  });

  it('the target of `db cutover` keeps slots that a watch records at the same time', async () => {
    const { path } = openFixture();
    writeRecord(path, { ...record, started: { ...started, at: 0 } });
    const watch = await holdWatchRecordLock(path, { ...record, started, slots });
    saveWatchedTarget(path, cluster, 'redis://target');
    await watch.end();
    expect(readRecord(path)).toMatchObject({ target: 'redis://target', slots });
  });

  it('the start of a migration is not undone by a poll that read the record before', async () => {
    const { state, path } = openFixture();
    const watch = await holdWatchRecordLock(path, { ...record, slots });
    const sent = { at: 0, cluster, baseOrigin: 'https://api.example.com', source: sourceAddress(source) };
    const request = { ...sent, identity: {}, sourceOptions: [] };
    settleRequest(state, request, { at: 0, id: 'm-1' });
    await watch.end();
    expect(readRecord(path)?.started).toMatchObject({ id: 'm-1', cluster });
  });
});

describe('requests', () => {
  const source = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;
  const start: UnconfirmedRequest = {
    at: Date.parse('2026-11-20T12:00:00Z'),
    cluster: '3b643ad7-65aa-4066-b45b-1c64b6db600a',
    baseOrigin: 'https://api.example.com',
    source,
    identity: { accountUuid: 'u', team: 'personal' },
    before: ['cdc'],
    warned: ['ext-tables'],
    sourceOptions: ['--source', 'postgres://mover@db.example.com:5432/shop', '--disable-ssl'],
  };
  const later: UnconfirmedRequest = { ...start, at: start.at + 1000 };

  function stateFolder(): string {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    return folders.state;
  }

  it('a request is read again by its server and cluster, or by its server and source', () => {
    const state = stateFolder();
    writeRequest(state, start);
    expect(readRequest(state, start.baseOrigin, start.cluster)).toEqual(start);
    expect(findRequests(state, { ...source, host: 'DB.example.com' })).toEqual([start]);
    expect(readRequest(state, 'https://other.example.com', start.cluster)).toBeUndefined();
    expect(readRequest(state, start.baseOrigin, crypto.randomUUID())).toBeUndefined();
    expect(findRequests(state, { ...source, dbname: 'crm' })).toEqual([]);
    const [file = ''] = readdirSync(join(state, 'migrations'));
    expect(statSync(join(state, 'migrations', file)).mode & 0o777).toBe(0o600);
  });

  it('a request that started a migration becomes the record of `db watch`', () => {
    const state = stateFolder();
    writeRequest(state, start);
    settleRequest(state, start, { id: 'm-1', at: start.at });
    expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
    expect(readRecord(pathOfRecord(state, source))).toEqual({
      engine: 'postgresql',
      source: 'db.example.com:5432/shop',
      started: { at: start.at, cluster: start.cluster, id: 'm-1', identity: start.identity },
      before: ['cdc'],
      warned: ['ext-tables'],
      sourceOptions: start.sourceOptions,
    });
  });

  it('a request that was sent later is not removed with an earlier one', () => {
    const state = stateFolder();
    writeRequest(state, later);
    settleRequest(state, start, undefined);
    expect(readRequest(state, start.baseOrigin, start.cluster)).toEqual(later);
  });

  it('a request counts as interrupted when its sender has released the lock', () => {
    const state = stateFolder();
    writeRequest(state, start);
    const sender = lockRequest(state, start);
    expect(readInterrupted(state, start.baseOrigin, start.cluster)).toBeUndefined();
    expect(findRequests(state, source)).toEqual([]);
    sender?.release();
    expect(readInterrupted(state, start.baseOrigin, start.cluster)).toEqual(start);
    expect(findRequests(state, source)).toEqual([start]);
  });

  describe('the baseline file', () => {
    const earlier = { ...baseline, at: baseline.at - 60_000 };

    it.each<[string, UnconfirmedRequest, boolean, SourceBaseline | undefined]>([
      ['is that of the request that started a migration', { ...start, baseline }, true, baseline],
      ['stays when the request started none', { ...start, baseline }, false, earlier],
      ['is removed by a start whose source could not be read', { ...start, baseline: null }, true, undefined],
      ['stays when a request without a baseline started a migration', start, true, earlier],
    ])('%s', (_what, request, isStarted, expected) => {
      const state = stateFolder();
      const path = pathOfBaseline(state, source, start.cluster);
      storeBaseline(path, earlier);
      writeRequest(state, request);
      expect(loadBaseline(path)).toEqual(earlier);
      const stored = readRequest(state, start.baseOrigin, start.cluster);
      expect(stored).toEqual(request);
      settleRequest(state, stored!, isStarted ? { id: 'm-1', at: start.at } : undefined);
      expect(loadBaseline(path)).toEqual(expected);
      expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
    });

    it('that cannot be written does not prevent the record of the start', () => {
      const state = stateFolder();
      const path = pathOfBaseline(state, source, start.cluster);
      mkdirSync(path, { recursive: true });
      writeRequest(state, { ...start, baseline });
      const settle = () => settleRequest(state, { ...start, baseline }, { id: 'm-1', at: start.at });
      expect(settle).toThrow();
      expect(readRecord(pathOfRecord(state, source))?.started?.id).toBe('m-1');
      expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
    });
  });

  it('a request that started none leaves the record of an earlier migration', () => {
    const state = stateFolder();
    writeRequest(state, start);
    settleRequest(state, start, { id: 'm-1', at: start.at });
    writeRequest(state, later);
    settleRequest(state, later, undefined);
    expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
    expect(readRecord(pathOfRecord(state, source))?.started?.id).toBe('m-1');
  });

  it.each(['', '{', '[]', '{"version":1}', '{"version":2}'])('a damaged file, %j, counts as missing', (text) => {
    const state = stateFolder();
    writeRequest(state, start);
    const [file = ''] = readdirSync(join(state, 'migrations'));
    writeFileSync(join(state, 'migrations', file), text);
    expect(readRequest(state, start.baseOrigin, start.cluster)).toBeUndefined();
    expect(findRequests(state, source)).toEqual([]);
  });
});

describe('a migration that is found again', () => {
  const source = { engine: 'redis', host: 'cache.example.com', port: 6379 } as const;
  const postgres = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;

  /** A request that was sent a minute ago by a run that was killed, and a service that answers like this. */
  async function openFixture(answer: RequestHandler, more: Partial<UnconfirmedRequest> = {}) {
    const folders = makeFolders();
    onTestFinished(() => folders.remove());
    const { origin, seen } = await serverFor((request, response, count) =>
      request.url.startsWith('/v2/actions') ? reply(response, 200, { actions: [] }) : answer(request, response, count),
    );
    const now = Math.floor(Date.now() / 1000) * 1000;
    const sent = { at: now - 60_000, cluster, baseOrigin: origin, source, identity: {}, sourceOptions: [] };
    const store = (changes: Partial<UnconfirmedRequest>) => writeRequest(folders.state, { ...sent, ...changes });
    store(more);
    const api = await apiOf(origin);
    const identity = { baseOrigin: origin, accountUuid: 'ada', team: 'personal' };
    const resolve = () => resolveRequest({ api, stateFolder: folders.state, now, identity }, cluster);
    const stored = () => readRequest(folders.state, origin, cluster);
    const isSettled = () => stored() === undefined;
    const lock = () => lockRequest(folders.state, sent);
    const baselinePath = pathOfBaseline(folders.state, postgres, cluster);
    const writeBaseline = (written: SourceBaseline) => storeBaseline(baselinePath, written);
    const baselineAt = () => loadBaseline(baselinePath)?.at;
    const path = pathOfRecord(folders.state, source);
    const record = () => readRecord(path);
    const file = () =>
      join(dirname(path), readdirSync(dirname(path)).find((name) => /^sent-.*json$/.test(name)) ?? 'none');
    return { resolve, isSettled, record, path, file, seen, now, store, stored, lock, writeBaseline, baselineAt };
  }

  const shown =
    (age: number | undefined, status = 'running'): RequestHandler =>
    (_request, response) => {
      const created = age === undefined ? {} : { created_at: new Date(Date.now() - age).toISOString() };
      reply(response, 200, { id: 'm-1', status, ...created });
    };

  describe('the request of an interrupted run', () => {
    it.each([
      ['created since', shown(50_000)],
      ['without a time', shown(undefined)],
      ['with a time in the future, of another zone', shown(-3_600_000)],
    ])('has started a migration that the service shows: %s', async (_what, answer) => {
      const { resolve, isSettled, record } = await openFixture(answer);
      expect(await resolve()).toMatchObject({ migration: { id: 'm-1' }, hasEnded: false });
      expect(isSettled()).toBe(true);
      expect(record()?.started).toMatchObject({ id: 'm-1', cluster });
      expect(await resolve()).toBeUndefined();
    });

    it('has started one that has ended', async () => {
      const { resolve } = await openFixture(shown(50_000, 'error'));
      expect(await resolve()).toMatchObject({ migration: { status: 'error' }, hasEnded: true });
    });

    it.each<[string, RequestHandler]>([
      ['an older migration', shown(120_000)],
      ['no migration', (_request, response) => reply(response, 404, { id: 'not_found' })],
    ])('has started none when the service shows %s', async (_what, answer) => {
      const { resolve, isSettled, record } = await openFixture(answer);
      expect(await resolve()).toMatchObject({ migration: undefined });
      expect(isSettled()).toBe(true);
      expect(record()).toBeUndefined();
    });

    it.each<[string, RequestHandler]>([
      ['an error', (_request, response) => reply(response, 500, { id: 'server_error' })],
      ['the page of a proxy', (_request, response) => void response.writeHead(200).end('<p>')],
      ['no response', (_request, response) => void response.destroy()],
    ])('stays unknown when the service answers with %s', async (_what, answer) => {
      const { resolve, isSettled } = await openFixture(answer);
      await expect(resolve()).rejects.toMatchObject({ code: expect.stringMatching(/^(api_error|unreachable)$/) });
      expect(isSettled()).toBe(false);
    });

    it('is not looked up while its sender still waits for the response', async () => {
      const { resolve, isSettled, seen, lock } = await openFixture(shown(50_000));
      const sender = lock();
      expect(await resolve()).toBeUndefined();
      expect([isSettled(), seen]).toEqual([false, []]);
      sender?.release();
      expect(await resolve()).toMatchObject({ migration: { id: 'm-1' } });
      expect(isSettled()).toBe(true);
    });

    it('that another run has replaced during the lookup is not removed', async () => {
      let replace = (): void => {};
      const { resolve, stored, store, record, now } = await openFixture((_request, response) => {
        replace();
        reply(response, 404, { id: 'not_found' });
      });
      replace = () => store({ at: now });
      expect(await resolve()).toMatchObject({ migration: undefined });
      expect(stored()?.at).toBe(now);
      expect(record()).toBeUndefined();
    });

    it('that another run has settled during the lookup is not recorded again', async () => {
      let settle = (): void => {};
      const { resolve, isSettled, record, path, file, now } = await openFixture((request, response, count) => {
        settle();
        shown(50_000)(request, response, count);
      });
      const slots = [{ name: 'replica', database: '' }];
      settle = () => {
        rmSync(file(), { force: true });
        const started = { at: now, cluster, id: 'm-1', identity: {} };
        writeRecord(path, { engine: 'redis', source: 'cache.example.com:6379', started, slots });
      };
      expect(await resolve()).toMatchObject({ migration: { id: 'm-1' } });
      expect(isSettled()).toBe(true);
      expect(record()).toMatchObject({ slots });
    });

    it('that started a migration leaves its baseline, and one that started none leaves the earlier baseline', async () => {
      const status = { code: 404, body: { id: 'not_found' } as object };
      const { resolve, store, baselineAt, writeBaseline, now } = await openFixture((_request, response) =>
        reply(response, status.code, status.body),
      );
      writeBaseline({ ...baseline, at: now - 120_000 });
      store({ source: postgres, baseline: { ...baseline, at: now - 61_000 } });
      expect(await resolve()).toMatchObject({ migration: undefined });
      expect(baselineAt()).toBe(now - 120_000);
      store({ source: postgres, baseline: { ...baseline, at: now - 61_000 } });
      Object.assign(status, { code: 200, body: { id: 'm-1', status: 'running' } });
      expect(await resolve()).toMatchObject({ migration: { id: 'm-1' } });
      expect(baselineAt()).toBe(now - 61_000);
    });

    it('of another account is not looked up', async () => {
      const { resolve, isSettled, seen } = await openFixture(shown(50_000), {
        identity: { accountUuid: 'grace', team: 'personal' },
      });
      await expect(resolve()).rejects.toMatchObject({ code: 'usage' });
      expect([isSettled(), seen]).toEqual([false, []]);
    });
  });
});
