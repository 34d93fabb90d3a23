import { expect, test } from 'vitest';
import { leftoversCheck } from '../../../../../src/db/preflight/postgresql/checks/leftovers.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { preflightOptions, short, slot, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const old = 'aiven_db_migrate_0123_slot';
const publication = { name: 'aiven_db_migrate_0123_pub', allTables: true };

test.each([
  { what: 'nothing', slots: [], publications: [], verdict: 'pass' },
  {
    what: 'a slot of a migration',
    slots: [slot({ name: old, active: false })],
    publications: [],
    verdict: 'fail continuous',
  },
  {
    what: 'a slot of an initial copy',
    slots: [slot({ name: 'pg_16400_sync_16390_71' })],
    publications: [],
    verdict: 'fail continuous',
  },
  { what: 'a publication of a migration', slots: [], publications: [publication], verdict: 'fail continuous' },
  { what: 'a publication of somebody', slots: [], publications: [{ name: 'cdc', allTables: true }], verdict: 'pass' },
  { what: 'a slot that is read', slots: [slot({ name: 'debezium' })], publications: [], verdict: 'pass' },
  {
    what: 'a slot nobody reads',
    slots: [slot({ name: 'debezium', active: false })],
    publications: [],
    verdict: 'info',
  },
  {
    what: 'a slot nobody reads that fills the disk',
    slots: [slot({ name: 'debezium', active: false, retained: 5 * 1024 ** 3 })],
    publications: [],
    verdict: 'warn',
  },
  {
    what: 'a slot of another database',
    slots: [slot({ name: old, database: 'd2' })],
    publications: [],
    verdict: 'pass',
  },
])('$what: $verdict', ({ slots, publications, verdict }) => {
  expect(short(leftoversCheck.evaluate({ slots, publications }, 'd1', sourceFacts(), preflightOptions()))).toBe(
    verdict,
  );
});

test.each([true, false])('an active slot is reported as a running migration: %s', (active) => {
  const facts = { slots: [slot({ name: old, active })], publications: [] };
  const { headline } = leftoversCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions());
  expect(headline !== undefined).toBe(active);
});

test.each([true, false])(
  'nothing is dropped without a review, because a slot of a running migration can be idle: active %s',
  (active) => {
    const facts = { slots: [slot({ name: old, active })], publications: [publication] };
    const { fix, headline } = leftoversCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions({ cluster: 'c-1' }));
    expect(fix?.sql).toBeUndefined();
    expect(fix?.text).toContain('cloudctl db status c-1');
    expect(`${leftoversCheck.headline} ${headline}`).not.toContain('earlier');
  },
);

test('after the review both are dropped, in their database, and only while the slot is inactive', () => {
  const { fix } = leftoversCheck.evaluate(
    { slots: [slot({ name: old })], publications: [publication] },
    'd1',
    sourceFacts(),
    preflightOptions(),
  );
  expect(fix?.database).toBe('d1');
  const [slots, publications, ...others] = fix?.review ?? [];
  expect(slots).toBe(
    `SELECT pg_catalog.pg_drop_replication_slot(slot_name) FROM pg_catalog.pg_replication_slots WHERE slot_name OPERATOR(pg_catalog.=) '${old}' AND NOT active`,
  );
  expect(publications).toMatch(
    /IF NOT EXISTS \(SELECT FROM pg_catalog\.pg_replication_slots WHERE active .*\) THEN DROP PUBLICATION IF EXISTS "aiven_db_migrate_0123_pub"/,
  );
  expect(others).toEqual([]);
});

test('a publication is dropped whatever its name holds, and the name is never read as SQL', async () => {
  const server = await startPostgres({ version: 17, settings: ready });
  await server.query('CREATE TABLE kept (a int PRIMARY KEY)');
  const odd = ['cloudctl_$cure$; DROP TABLE kept; --', "cloudctl_'; DROP TABLE kept; --", 'cloudctl_" \\\\ $$'];
  for (const name of odd) await server.query(`CREATE PUBLICATION "${name.replaceAll('"', '""')}"`);
  const { fix } = found(await preflightServer(server), 'leftovers', 'postgres');
  expect(fix?.review).toHaveLength(odd.length);
  for (const statement of fix?.review ?? []) await server.query(statement);
  expect(found(await preflightServer(server), 'leftovers', 'postgres').status).toBe('pass');
  expect(await server.query("SELECT to_regclass('kept') IS NOT NULL AS there")).toEqual([{ there: true }]);
});

test('a slot of another consumer is not dropped by the script', () => {
  const facts = { slots: [slot({ name: 'debezium', active: false })], publications: [] };
  expect(leftoversCheck.evaluate(facts, 'd1', sourceFacts(), preflightOptions()).fix).not.toHaveProperty('sql');
});
