import { expect, onTestFinished, test } from 'vitest';
import { type Running, run, start } from '../../fixtures/cli.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { makeFolders } from '../../fixtures/folders.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const words = [
  'db',
  'migrate',
  cluster,
  '--source',
  'postgres://u@db.example.com/shop',
  '--skip-preflight',
  '-o',
  'json',
];

/** A service that kills the program when the first request to start arrives, before or after it has carried it out. */
async function openFixture(isCarriedOut: boolean) {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  let running: Running | undefined;
  let migration: object | undefined;
  const { origin, seen } = await serverFor(({ method, url }, response) => {
    if (url.startsWith('/v2/actions')) return reply(response, 200, { actions: [] });
    if (method === 'GET')
      return migration === undefined ? reply(response, 404, { id: 'not_found' }) : reply(response, 200, migration);
    const isFirst = running !== undefined;
    if (!isFirst || isCarriedOut)
      migration = { id: `m-${isFirst ? 1 : 2}`, status: 'running', created_at: new Date().toISOString() };
    if (!isFirst) return reply(response, 200, migration);
    running?.kill('SIGKILL');
    running = undefined;
    return undefined;
  });
  const options = {
    folders,
    env: { CLOUDCTL_BASE_URL: origin, CLOUDCTL_ACCESS_TOKEN: 'a-token', PGPASSWORD: 'hunter2' },
  };
  running = start(words, options);
  const killed = await running.ended;
  expect(killed.signal).toBe('SIGKILL');
  return { options, puts: () => seen.filter(({ method }) => method === 'PUT').length };
}

test('a migration that a killed run started is adopted by the next one, and not started twice', async () => {
  const { options, puts } = await openFixture(true);
  const next = await run(words, options);
  expect(next.code).toBe(0);
  expect(next.json()).toMatchObject({ id: 'm-1', status: 'running' });
  expect(puts()).toBe(1);
});

test('one that a killed run did not start is started by the next one', async () => {
  const { options, puts } = await openFixture(false);
  const next = await run(words, options);
  expect(next.code).toBe(0);
  expect(next.json()).toMatchObject({ id: 'm-2' });
  expect(puts()).toBe(2);
});

test('db status finds it, and then nothing is left to look up', async () => {
  const { options, puts } = await openFixture(true);
  const status = await run(['db', 'status', cluster, '-o', 'json'], options);
  expect([status.code, status.json<{ id: string }>().id]).toEqual([0, 'm-1']);
  expect(status.stderr).toContain('interrupted');
  const again = await run(['db', 'status', cluster, '-o', 'json'], options);
  expect(again.stderr).toBe('');
  expect(puts()).toBe(1);
});

test('a run for another source is refused, and names the migration', async () => {
  const { options, puts } = await openFixture(true);
  const other = words.map((word) => word.replace('/shop', '/crm'));
  const next = await run(other, options);
  expect([next.code, next.stdout]).toEqual([1, '']);
  for (const named of ['m-1', 'shop', `db status ${cluster}`, `db stop ${cluster}`])
    expect(next.stderr).toContain(named);
  expect(puts()).toBe(1);
});
