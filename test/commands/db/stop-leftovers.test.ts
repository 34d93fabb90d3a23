import { afterAll, beforeAll, expect, it } from 'vitest';
import { pathOfRecord, writeRecord } from '../../../src/db/watch/record.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type Postgres, ready, startPostgres } from '../../fixtures/postgres.ts';
import { runPsql } from '../../fixtures/psql.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { dbTestHost } from './test-source.ts';

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const databases = ['shop', 'crm', 'ca fé'];
let source: Postgres;
beforeAll(async () => {
  source = await startPostgres({ version: 17, settings: ready });
  for (const name of databases) await source.query(`CREATE DATABASE "${name}"`);
});
afterAll(() => source?.stop());

it.each(['gave up', 'does not say what it left'])(
  'what a stop left on the source is removed by the lines of its hint: the service %s',
  async (service) => {
    for (const [at, name] of databases.entries()) {
      await source.query(`CREATE PUBLICATION cloudctl_m_${at}`, name);
      await source.query(`SELECT pg_create_logical_replication_slot('cloudctl_m_${at}', 'pgoutput')`, name);
    }
    const leftovers = databases.map((database, at) => ({
      ...{ side: 'source', database, object: `replication slot cloudctl_m_${at}` },
      ...{ statement: 'DROP', reason: 'connection refused' },
    }));
    const shown = { id: 'm', status: 'canceled', ...(service === 'gave up' ? { leftovers } : {}) };
    const server = await serverFor((_request, response) => reply(response, 200, shown));
    const host = dbTestHost({
      CLOUDCTL_BASE_URL: server.origin,
      CLOUDCTL_ACCESS_TOKEN: 'token',
      PGPASSWORD: source.password,
    });
    const url = `postgres://postgres@${source.host}:${source.port}/postgres?sslmode=disable`;
    const stop = (...words: readonly string[]) =>
      runCloudctl(host, ['db', 'stop', cluster, '--yes', '--source', url, ...words]);
    const text = await stop();
    expect(text.code).toBe(1);
    expectGolden('db-follow', text.err.replaceAll(/retains [\d.]+ k?B/g, 'retains N B'));
    const [, ...lines] = (await stop('-o', 'json')).error().hint?.split('\n') ?? [];
    const pasted = runPsql(source, lines.join('\n'));
    expect([pasted.stderr, pasted.code, lines.length]).toEqual(['', 0, 9]);
    expect((await stop()).code).toBe(0);
  },
  60_000,
);

it('a source that cannot be read after the stop: the slots of the record are named, with their removal and its reason', async () => {
  const name = 'cloudctl_m_7';
  await source.query(`SELECT pg_create_logical_replication_slot('${name}', 'pgoutput')`, 'shop');
  await source.query('CREATE TABLE filler AS SELECT generate_series(1, 100000) AS i', 'shop');
  const server = await serverFor((_request, response) => reply(response, 200, { id: 'm', status: 'canceled' }));
  const host = dbTestHost({ CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'token' });
  const address = { engine: 'postgresql', host: source.host, port: source.port, dbname: 'shop' } as const;
  writeRecord(pathOfRecord(host.folders.state, address), {
    ...{ engine: 'postgresql', source: `${source.host}:${source.port}/shop` },
    started: { at: 0, cluster, id: 'm', identity: {} },
    slots: [
      { name, database: 'shop', grade: 'proven', by: 'its name' },
      { name: 'other', database: 'shop', grade: 'assumed', by: 'nothing' },
    ],
  });
  const url = `postgres://postgres@${source.host}:${source.port}/shop?sslmode=disable`;
  const words = ['db', 'stop', cluster, '--yes', '--source', url];
  const unread = await runCloudctl(host, words);
  expect(unread.code).toBe(3);
  expectGolden('db-follow', unread.err.replaceAll(String(source.port), 'PORT'));
  const [, ...lines] = (await runCloudctl(host, [...words, '-o', 'json'])).error().hint?.split('\n') ?? [];

  const read = { ...(host.env as Record<string, string>), PGPASSWORD: source.password };
  const seen = await runCloudctl(host, [...words, '-o', 'json'], { env: read });
  // A slot that is told how much it retains can be compared with the free space of the disk.
  expect(seen.error().detail).toMatch(/cloudctl_m_7 in database shop, which retains [\d.]+ MB of WAL/);
  const pasted = runPsql(source, lines.join('\n'));
  expect([pasted.stderr, pasted.code]).toEqual(['', 0]);
  expect(await source.query('SELECT slot_name FROM pg_replication_slots')).toEqual([]);
}, 60_000);
