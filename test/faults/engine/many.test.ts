import pg from 'pg';
import { expect, test } from 'vitest';
import {
  beginMigration,
  makePostgresJob,
  objectsOn,
  postgresEndpointOf,
  startSource,
  startTarget,
  testEngineDependencies,
  waitForState,
} from '../../db/engine/servers.ts';

/** `npm run test:engine -- --full`: 10 databases of 20 tables of 10,000 rows. */
const [databases, tables, rows] = (process.env.CLOUDCTL_TEST_SIZE ?? '3x4x1000').split('x').map(Number) as [
  number,
  number,
  number,
];

/** Statements, in all databases together. */
const writesPerSecond = 520;

test(`${databases} databases of ${tables} tables of ${rows} rows arrive whole while they are written to, and the source never fails`, async () => {
  const [source, target] = await Promise.all([
    startSource({
      version: 17,
      settings: { max_replication_slots: 40, max_wal_senders: 60, max_worker_processes: 60 },
    }),
    startTarget({ version: 18 }),
  ]);
  const names = Array.from({ length: databases }, (_, at) => `d${at}`);
  for (const name of names) {
    await source.query(`CREATE DATABASE ${name}`);
    await source.query(
      `DO $$ BEGIN FOR i IN 1..${tables} LOOP
         EXECUTE format('CREATE TABLE t%s (id serial PRIMARY KEY, name text, changed int DEFAULT 0)', i);
         EXECUTE format('INSERT INTO t%s (name) SELECT md5(n::text) FROM generate_series(1, ${rows}) n', i);
       END LOOP; END $$`,
      name,
    );
  }
  const began = performance.now();
  const migration = beginMigration(
    makePostgresJob(postgresEndpointOf(source), postgresEndpointOf(target), { ignoreDbs: ['postgres'] }),
    testEngineDependencies(),
  );
  let isOver = false;
  const written = { statements: 0, failed: 0, slowest: 0 };
  const writers = names.map(async (name) => {
    const client = new pg.Client({ host: source.folder, port: source.ownPort, user: 'postgres', database: name });
    await client.connect();
    const writingSince = performance.now();
    for (let at = 0; !isOver; at++) {
      const table = `t${(at % tables) + 1}`;
      const from = performance.now();
      try {
        await client.query(
          `INSERT INTO ${table} (name) VALUES ('new ${at}');
           UPDATE ${table} SET changed = changed + 1 WHERE id = ${(at % rows) + 1};
           DELETE FROM ${table} WHERE id = ${rows - (at % (rows / 2))}`,
        );
      } catch {
        written.failed += 1;
      }
      written.statements += 3;
      written.slowest = Math.max(written.slowest, performance.now() - from);
      // Statements that were late are made up for, so that the rate holds.
      const due = writingSince + ((at + 1) * 3 * databases * 1000) / writesPerSecond;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
    }
    await client.end();
  });
  await waitForState(migration, ({ status }) => status === 'syncing', 600_000);
  const copied = performance.now() - began;
  await new Promise((resolve) => setTimeout(resolve, 1000));
  isOver = true;
  await Promise.all(writers);
  const writtenFor = performance.now() - began;
  const last = await Promise.all(names.map((name) => counts(source, name)));
  await caughtUp(() => Promise.all(names.map((name) => counts(target, name))), last);
  const stopped = performance.now();
  expect(await migration.stop()).toEqual([]);
  const stopping = performance.now() - stopped;
  expect((await migration.ended).databases.flatMap(({ error, warnings }) => [error, ...warnings])).toEqual(
    names.map(() => undefined),
  );
  expect(written.failed).toBe(0);
  expect(await objectsOn(source)).toEqual([]);
  const [sequence] = await source.query('SELECT last_value FROM t1_id_seq', 'd0');
  expect(await target.query('SELECT last_value FROM t1_id_seq', 'd0')).toEqual([sequence]);
  console.log(
    `${databases}x${tables}x${rows}: everything ready after ${(copied / 1000).toFixed(1)} s; meanwhile ${written.statements} statements (${(written.statements / (writtenFor / 1000)).toFixed(0)} per second), ${written.failed} failed, the slowest three ${written.slowest.toFixed(0)} ms; stopped in ${(stopping / 1000).toFixed(1)} s`,
  );

  async function counts(server: typeof source, name: string): Promise<unknown> {
    const all = Array.from(
      { length: tables },
      (_, at) => `SELECT ${at} AS t, count(*), md5(string_agg(t::text, ',' ORDER BY id)) AS rows FROM t${at + 1} t`,
    );
    return server.query(`${all.join(' UNION ALL ')} ORDER BY 1`, name);
  }
}, 900_000);

async function caughtUp(look: () => Promise<unknown>, wanted: unknown): Promise<void> {
  for (const end = Date.now() + 60_000; ; ) {
    const found = await look();
    if (JSON.stringify(found) === JSON.stringify(wanted)) return;
    if (Date.now() > end) expect(found).toEqual(wanted);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
