import { afterAll, beforeAll, expect, it } from 'vitest';
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
    expectGolden('db-follow', text.err);
    const [, ...lines] = (await stop('-o', 'json')).error().hint?.split('\n') ?? [];
    const pasted = runPsql(source, lines.join('\n'));
    expect([pasted.stderr, pasted.code, lines.length]).toEqual(['', 0, 9]);
    expect((await stop()).code).toBe(0);
  },
  60_000,
);
