import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** The tables of a migration that has an accident. */
export const accidentTables = `
  CREATE TABLE orders (id int PRIMARY KEY, t text);
  CREATE TABLE items (id int PRIMARY KEY, amount int);
  INSERT INTO orders SELECT i, 'x' FROM generate_series(1, 100) i;
  INSERT INTO items SELECT i, i FROM generate_series(1, 100) i`;

/** Settings of a target that has a log file, which the service can read. */
export const logSettings = { logging_collector: 'on', log_directory: 'log', log_filename: 'target.log' };

/** accidents.d.mts describes the list. Tests and benchmark cause the same. */
export const accidents = [
  {
    id: 'lock on the target',
    source: { rule: 'apply-blocked', object: 'public.orders' },
    reported: { rule: 'target-lock', object: 'public.orders' },
    async begin(place) {
      const session = await lockOrders(place);
      await insertOrder(place);
      return () => session.end();
    },
  },
  {
    id: 'timeout of the apply role',
    source: { rule: 'apply-failing', object: 'public.orders' },
    reported: { rule: 'target-lock-timeout', object: undefined },
    async begin(place) {
      const role = await applyRole(place);
      await place.target.query(`ALTER ROLE "${role}" SET lock_timeout = '500ms'`);
      await restartWorker(place);
      const session = await lockOrders(place);
      await insertOrder(place);
      return async () => {
        await session.end();
        await place.target.query(`ALTER ROLE "${role}" RESET lock_timeout`);
      };
    },
  },
  {
    id: 'new table',
    source: { rule: 'table-new', object: 'public.newt' },
    async begin({ source, target, database }) {
      await source.query('CREATE TABLE newt (id int PRIMARY KEY, t text)', database);
      await source.query('INSERT INTO newt VALUES (1)', database);
      return () => target.query('CREATE TABLE newt (id int PRIMARY KEY, t text)', database);
    },
  },
  {
    id: 'dropped table',
    source: { rule: 'apply-failing', object: 'public.items' },
    reported: { rule: 'target-schema', object: 'public.items' },
    async begin({ source, target, database }) {
      await target.query('DROP TABLE items', database);
      await source.query('UPDATE items SET amount = 0 WHERE id = 1', database);
      return () => target.query('CREATE TABLE items (id int PRIMARY KEY, amount int)', database);
    },
  },
  {
    id: 'added column',
    source: { rule: 'column-added', object: 'public.orders.note' },
    async begin(place) {
      await place.source.query('ALTER TABLE orders ADD COLUMN note text', place.database);
      await insertOrder(place);
      return () => place.target.query('ALTER TABLE orders ADD COLUMN note text', place.database);
    },
  },
  {
    id: 'changed type',
    source: { rule: 'column-type-changed', object: 'public.items.amount' },
    async begin({ source, target, database }) {
      await source.query('ALTER TABLE items ALTER COLUMN amount TYPE text', database);
      await source.query("UPDATE items SET amount = 'many' WHERE id = 1", database);
      return () => target.query('ALTER TABLE items ALTER COLUMN amount TYPE text', database);
    },
  },
  {
    id: 'dropped publication',
    source: { rule: 'publication-dropped', object: 'NAME' },
    async begin(place) {
      await place.source.query(`DROP PUBLICATION "${place.name}"`, place.database);
      await insertOrder(place);
    },
  },
  {
    id: 'dropped slot',
    source: { rule: 'slot-dropped', object: 'NAME' },
    async begin(place) {
      await untilDone(async () => {
        await terminateSender(place);
        await place.source.query(`SELECT pg_drop_replication_slot('${place.name}')`, place.database);
      });
      await insertOrder(place);
    },
  },
  {
    id: 'removed replica identity',
    source: { rule: 'replica-identity-removed', object: 'public.items' },
    async begin({ source, database }) {
      await source.query('ALTER TABLE items REPLICA IDENTITY NOTHING', database);
      await source.query('UPDATE items SET amount = 1', database).catch(() => {});
      return () => source.query('ALTER TABLE items REPLICA IDENTITY DEFAULT', database);
    },
  },
  {
    id: 'changed password',
    source: { rule: 'role-altered', object: 'mover' },
    later: { rule: 'login-refused', object: 'mover' },
    async begin(place) {
      await place.source.query("ALTER ROLE mover PASSWORD 'another'");
      await terminateSender(place);
      await insertOrder(place);
      return () => place.source.query(`ALTER ROLE mover PASSWORD '${place.source.password}'`);
    },
  },
  {
    id: 'removed host rule',
    source: { rule: 'pg-hba-changed', object: hostRule() },
    later: { rule: 'login-refused', object: hostRule() },
    async begin(place) {
      const before = place.source.read('pg_hba.conf');
      place.source.write('pg_hba.conf', 'local all all trust\n');
      await place.source.query('SELECT pg_reload_conf()');
      await sleep(300);
      await terminateSender(place);
      await insertOrder(place);
      return async () => {
        place.source.write('pg_hba.conf', before);
        await place.source.query('SELECT pg_reload_conf()');
      };
    },
  },
  {
    id: 'stopped target',
    source: { rule: 'target-disconnected', object: 'public.orders' },
    reported: { rule: 'target-stopped', object: 'the target' },
    async begin(place) {
      await place.target.crash();
      await insertOrder(place);
      return () => place.target.start();
    },
  },
  {
    id: 'read-only target',
    source: { rule: 'target-disconnected', object: 'public.orders' },
    reported: { rule: 'target-read-only', object: 'the target' },
    async begin(place) {
      place.target.write('standby.signal', '');
      await place.target.restart();
      await insertOrder(place);
      return () => place.target.query('SELECT pg_promote()');
    },
  },
  {
    id: 'full disk of the target',
    source: { rule: 'apply-failing', object: 'public.orders' },
    reported: { rule: 'target-disk-full', object: 'the disk of the target' },
    /** A tmpfs of 4 MB. */
    async prepare({ target }) {
      const folder = join(target.folder, 'small');
      mkdirSync(folder);
      if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder]).status !== 0)
        throw new Error('could not mount a tmpfs');
      chmodSync(folder, 0o700);
      chownSync(folder, nobody, nobody);
      await target.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
      return () => spawnSync('umount', ['--lazy', folder]);
    },
    async begin({ source, target, database }) {
      await target.query('ALTER TABLE orders SET TABLESPACE small', database);
      await source.query(
        "INSERT INTO orders SELECT i, repeat('x', 1000) FROM generate_series(10001, 16000) i",
        database,
      );
    },
  },
  {
    id: 'conflicting write',
    source: { rule: 'apply-failing', object: 'public.items' },
    reported: { rule: 'target-conflict', object: 'public.items' },
    async begin({ source, target, database }) {
      await target.query('INSERT INTO items VALUES (7000, 1)', database);
      await source.query('INSERT INTO items VALUES (7000, 2)', database);
      return () => target.query('DELETE FROM items WHERE id = 7000', database);
    },
  },
];

const nobody = 65534;

function hostRule() {
  return 'host all all 0.0.0.0 0.0.0.0 scram-sha-256';
}

async function insertOrder({ source, database }) {
  await source.query('INSERT INTO orders SELECT max(id) + 1 FROM orders', database);
}

/** A session that holds a lock on a table of the target until it is ended. */
async function lockOrders({ target, database }) {
  const client = new pg.Client({ host: target.folder, port: target.port, user: 'postgres', database });
  client.on('error', () => {});
  await client.connect();
  await client.query('BEGIN; LOCK TABLE orders');
  return { end: () => client.end() };
}

async function applyRole({ target, name }) {
  const [row] = await target.query(
    `SELECT rolname FROM pg_subscription JOIN pg_roles r ON r.oid = subowner WHERE subname = '${name}'`,
  );
  return row.rolname;
}

async function restartWorker({ target, source, name }) {
  await target.query('SELECT pg_terminate_backend(pid) FROM pg_stat_subscription WHERE pid IS NOT NULL');
  await untilDone(async () => {
    const [slot] = await source.query(`SELECT active FROM pg_replication_slots WHERE slot_name = '${name}'`);
    if (slot?.active !== true) throw new Error('the worker has not connected again');
  });
}

async function terminateSender({ source, name }) {
  await source.query(
    `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '${name}' AND active_pid IS NOT NULL`,
  );
}

/** The target connects again and again, so a step may need several attempts. */
async function untilDone(step) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await step();
    } catch (error) {
      if (attempt >= 200) throw error;
      await sleep(50);
    }
  }
}
