import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBaseline } from '../../../src/db/watch/postgresql/baseline.ts';
import { loadBaseline, pathOfBaseline, pathOfRecord, readRecord, storeBaseline } from '../../../src/db/watch/record.ts';
import { plausibleStart, readRequest, resolveRequest, startMigration } from '../../../src/db/watch/start.ts';

import { apiOf } from '../../api/api-of.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { type RequestHandler, reply, serverFor } from '../../fixtures/fake-server.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import { makeDatabaseFacts, makeServerFacts } from './postgresql/make-facts.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const source = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;
const baseline = createBaseline(makeServerFacts(), [makeDatabaseFacts({})]);

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
        api,
        stateFolder,
        now: Date.now,
        loginHints: workLoginHints,
        commandOf: (words) => words,
        onUnsaved: async (reason) => void unsaved.push(reason),
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
