import { describe, expect, it, onTestFinished } from 'vitest';
import { resolveUnconfirmedMigrationRequest } from '../../src/watch/resolve-unconfirmed-migration-request.ts';
import {
  readUnconfirmedMigrationRequest,
  type UnconfirmedMigrationRequest,
  writeUnconfirmedMigrationRequest,
} from '../../src/watch/unconfirmed-migration-request.ts';
import { getMigrationWatchRecordPath, readMigrationWatchRecord } from '../../src/watch/watch-record.ts';
import { apiOf } from '../api/api-of.ts';
import { type RequestHandler, reply, serverFor } from '../fixtures/fake-server.ts';
import { makeFolders } from '../fixtures/folders.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const source = { engine: 'redis', host: 'cache.example.com', port: 6379 } as const;

/** A request that was sent a minute ago by a run that was killed, and a service that answers like this. */
async function openFixture(answer: RequestHandler, more: Partial<UnconfirmedMigrationRequest> = {}) {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const { origin, seen } = await serverFor((request, response, count) =>
    request.url.startsWith('/v2/actions') ? reply(response, 200, { actions: [] }) : answer(request, response, count),
  );
  const now = Math.floor(Date.now() / 1000) * 1000;
  writeUnconfirmedMigrationRequest(folders.state, { at: now - 60_000, cluster, baseOrigin: origin, source, ...more });
  const api = await apiOf(origin);
  const identity = { baseOrigin: origin, accountUuid: 'ada', team: 'personal' };
  const resolve = () => resolveUnconfirmedMigrationRequest({ api, stateFolder: folders.state, now, identity }, cluster);
  const isSettled = () => readUnconfirmedMigrationRequest(folders.state, origin, cluster) === undefined;
  const record = () => readMigrationWatchRecord(getMigrationWatchRecordPath(folders.state, source));
  return { resolve, isSettled, record, seen, now };
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

  it('of another account is not looked up', async () => {
    const { resolve, isSettled, seen } = await openFixture(shown(50_000), {
      identity: { accountUuid: 'grace', team: 'personal' },
    });
    await expect(resolve()).rejects.toMatchObject({ code: 'usage' });
    expect([isSettled(), seen]).toEqual([false, []]);
  });
});
