import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  pickPlausibleMigrationStartTime,
  startAndRecordMigration,
} from '../../src/watch/start-and-record-migration.ts';
import { readUnconfirmedMigrationRequest } from '../../src/watch/unconfirmed-migration-request.ts';
import { getMigrationWatchRecordPath, readMigrationWatchRecord } from '../../src/watch/watch-record.ts';
import { apiOf } from '../api/api-of.ts';
import { workLoginHints } from '../api/login-hints.ts';
import { type RequestHandler, reply, serverFor } from '../fixtures/fake-server.ts';
import { makeFolders } from '../fixtures/folders.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const source = { engine: 'postgresql', host: 'db.example.com', port: 5432, dbname: 'shop' } as const;

async function openFixture(answer: RequestHandler) {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const stateFolder = folders.state;
  let storedAtPut: unknown;
  const { origin, seen } = await serverFor((request, response, count) => {
    if (request.url.startsWith('/v2/actions')) return reply(response, 200, { actions: [] });
    if (request.method === 'PUT') storedAtPut = readUnconfirmedMigrationRequest(stateFolder, origin, cluster);
    return answer(request, response, count);
  });
  const api = await apiOf(origin);
  const unsaved: string[] = [];
  const start = () =>
    startAndRecordMigration(
      {
        api,
        stateFolder,
        now: Date.now,
        loginHints: workLoginHints,
        commandOf: (words) => words,
        onUnsaved: async (reason) => void unsaved.push(reason),
      },
      { cluster, baseOrigin: origin, source, before: ['cdc'] },
      { source: { host: source.host, dbname: source.dbname } },
    );
  const pending = () => readUnconfirmedMigrationRequest(stateFolder, origin, cluster);
  const record = () => readMigrationWatchRecord(getMigrationWatchRecordPath(stateFolder, source));
  return { stateFolder, start, seen, pending, record, unsaved, storedAtPut: () => storedAtPut };
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

  it('is not sent when it cannot be stored', async () => {
    const { stateFolder, start, seen } = await openFixture(accept);
    mkdirSync(stateFolder, { recursive: true });
    writeFileSync(join(stateFolder, 'migrations'), '');
    await expect(start()).rejects.toMatchObject({ code: 'internal' });
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
  expect(new Date(pickPlausibleMigrationStartTime(createdAt, Date.parse('2026-01-02T00:00:00Z')))).toEqual(
    new Date(expected),
  );
});
