import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBaseline, type SourceBaseline } from '../../../src/db/watch/postgresql/baseline.ts';
import {
  loadBaseline,
  pathOfBaseline,
  pathOfRecord,
  readRecord,
  storeBaseline,
  writeRecord,
} from '../../../src/db/watch/record.ts';
import {
  lockRequest,
  readRequest,
  resolveRequest,
  type UnconfirmedRequest,
  writeRequest,
} from '../../../src/db/watch/start.ts';

import { apiOf } from '../../api/api-of.ts';
import { type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { makeDatabaseFacts, makeServerFacts } from './postgresql/make-facts.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const source = { engine: 'redis', host: 'cache.example.com', port: 6379 } as const;
const postgres = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;
const baseline = createBaseline(makeServerFacts(), [makeDatabaseFacts({})]);

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
