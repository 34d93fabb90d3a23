import { expect, test } from 'vitest';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { preflightServer } from './preflight.ts';

const count = 300;

/** Of each kind so many; `%1$s` is the number of the object. */
const objects = [
  'CREATE TABLE t_%1$s (id int PRIMARY KEY, at timestamptz, v text)',
  'CREATE VIEW v_%1$s AS SELECT * FROM t_%1$s',
  'CREATE VIEW vv_%1$s AS SELECT id, v AS w FROM v_%1$s',
  'CREATE MATERIALIZED VIEW m_%1$s AS SELECT count(*) FROM t_%1$s',
  'CREATE SEQUENCE s_%1$s',
  'CREATE RULE r AS ON INSERT TO vv_%1$s DO INSTEAD INSERT INTO t_%1$s VALUES (NEW.id)',
  'CREATE POLICY p ON t_%1$s USING (EXISTS (SELECT FROM v_%1$s))',
  'CREATE TABLE part_%1$s PARTITION OF parts FOR VALUES IN (%1$s)',
];

test.each([13, 18] as const)(
  'no transaction of a preflight of PostgreSQL %i locks each of many relations',
  async (version) => {
    const server = await startPostgres({
      version,
      settings: { ...ready, max_locks_per_transaction: 1000, password_encryption: 'scram-sha-256' },
      setup: ['CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY LIST (id)'],
    });
    for (const sql of objects) {
      await server.query(`DO $do$BEGIN FOR i IN 1 .. ${count} LOOP EXECUTE format($q$${sql}$q$, i); END LOOP; END$do$`);
    }
    await server.query('CREATE TABLE child (id int REFERENCES parts) PARTITION BY LIST (id)');
    await server.query('CREATE TABLE named ("system_user" int, "é" text)');
    await server.query(`CREATE VIEW named_view AS SELECT "system_user" AS a, 'é' AS b FROM named`);
    await server.query("CREATE ROLE reader SUPERUSER LOGIN PASSWORD 'secret'");
    await server.query("ALTER ROLE reader SET client_encoding = 'LATIN1'");
    const sent: string[] = [];
    await preflightServer(
      { ...server, username: 'reader', options: { targetVersion: '18', deep: undefined } },
      { onQuery: (database, text) => database === 'postgres' && sent.push(text) },
    );
    const transactions = sent.filter((text) => text.startsWith('BEGIN'));
    expect(transactions.length).toBeGreaterThan(1);
    const locked = await Promise.all(
      transactions.map(async (text) => {
        const last = text.lastIndexOf('COMMIT');
        const rows = await server.query(
          `${text.slice(0, last)}SELECT count(*) AS locks FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation >= 16384`,
        );
        return JSON.stringify(rows).match(/"locks":"?(\d+)/)?.[1];
      }),
    );
    expect(Math.max(...locked.map(Number))).toBeLessThan(20);
  },
  120_000,
);
