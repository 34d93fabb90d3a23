import { execFileSync } from 'node:child_process';
import { afterEach, expect, it, vi } from 'vitest';
import { ready, startPostgres } from '../../../fixtures/postgres.ts';
import { startWatchRun, watchedPostgres } from '../run-watch.ts';
import { makeDatabase, startWatchedPair, type WatchedPair } from '../watched-pair.ts';

const ddl = 'CREATE TABLE big (id int PRIMARY KEY, t text); CREATE TABLE small (id int PRIMARY KEY)';

// Servers of two versions are started for each of them, and a busy machine takes its time.
vi.setConfig({ testTimeout: 90_000 });

let pair: WatchedPair;

afterEach(() => pair?.stop());

/** Two databases; the copy of the big table is slowed down on the target, so that it can be watched. */
async function setup(version: 12 | 13 | 14 | 15 | 16 | 17 | 18, rows = 60_000): Promise<void> {
  pair = await startWatchedPair(version);
  await makeDatabase(pair, 'shop', ddl);
  await pair.source.query(
    `INSERT INTO big SELECT i, repeat('x', 500) FROM generate_series(1, ${rows}) i; INSERT INTO small SELECT i FROM generate_series(1, 100) i; ANALYZE`,
    'shop',
  );
  await pair.target.query(
    "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.05); RETURN NEW; END'; CREATE TRIGGER slow BEFORE INSERT ON big FOR EACH ROW WHEN (NEW.id % 2000 = 0) EXECUTE FUNCTION slow(); ALTER TABLE big ENABLE ALWAYS TRIGGER slow",
    'shop',
  );
}

const insert = (table: string, value: number) => pair.source.query(`INSERT INTO ${table} VALUES (${value})`, 'shop');

it.each([13, 18] as const)(
  'a healthy migration of PostgreSQL %i waits, copies, streams, and is idle in the end',
  async (version) => {
    await setup(version);
    const watch = startWatchRun(watchedPostgres(pair.source, 'postgres'));
    const waiting = await watch.untilPhase('waiting');
    expect(waiting).toMatchObject({ percent: 0, deadline: null, violations: [] });
    await pair.replicate('shop');
    // How far one COPY is the server tells since 14.
    const enough = version < 14 ? 0 : 5000;
    const copying = await watch.until('half a copy', ({ databases }) =>
      databases.some(({ tables: [table] }) => table?.state === 'copying' && table.rows_done >= enough),
    );
    const shop = copying.databases.find(({ name }) => name === 'shop');
    expect(shop?.tables[0]).toMatchObject({ name: 'public.big', state: 'copying' });
    expect(copying.bytes_done).toBeLessThan(copying.bytes_total);
    expect(copying.deadline_from).toBe('first_sighting');
    if (version >= 14)
      await watch.until('a time', ({ phase, eta_seconds: eta }) => phase === 'copying' && eta !== undefined && eta > 0);
    const streaming = await watch.untilPhase('streaming');
    expect(streaming.percent).toBe(100);
    await watch.until('nothing left', (_sample, { idlePolls }) => idlePolls >= 5);
    expect(watch.looks.flatMap(({ sample }) => sample.violations)).toEqual([]);
    const percents = watch.looks.map(({ sample }) => sample.percent ?? Number.NaN);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
  },
);

it('a watch that begins later knows from the source since when nothing was copied', async () => {
  await setup(17, 10);
  await pair.replicate('shop');
  const first = startWatchRun(watchedPostgres(pair.source, 'shop'), { limits: { copyPause: 4000 } });
  await first.until('an end of the copy', (_sample, { idlePolls }) => idlePolls > 0);
  await first.stop();
  const later = startWatchRun(watchedPostgres(pair.source, 'shop'), { limits: { copyPause: 4000 } });
  await later.until('an end of the copy', (_sample, { idlePolls }) => idlePolls > 0);
  const [begin, end] = [later.looks[0], later.looks.at(-1)].map((look) => Date.parse(look?.sample.at ?? ''));
  expect((end ?? 0) - (begin ?? 0)).toBeLessThan(2000);
  // A scan, as the copy of a table that was added is one, is waited for again.
  await pair.source.query('SELECT count(t) FROM big; SELECT pg_stat_force_next_flush()', 'shop');
  const again = startWatchRun(watchedPostgres(pair.source, 'shop'), { limits: { copyPause: 4000 } });
  await again.until('a second look', (_sample, { reached }) => reached);
  expect(again.looks.every(({ idlePolls }) => idlePolls === 0)).toBe(true);
});

it.each([14, 17] as const)(
  'on PostgreSQL %i an apply that fails on a conflict and a target that is stopped have different names',
  async (version) => {
    await setup(version, 10);
    await pair.replicate('shop');
    const watch = startWatchRun(watchedPostgres(pair.source, 'shop'));
    await watch.until('an end of the copy', (_sample, { idlePolls }) => idlePolls > 0);
    await pair.target.query('INSERT INTO small VALUES (1000)', 'shop');
    await insert('small', 1000);
    const failing = await watch.untilBroken('apply-failing');
    expect(failing.violations.map(({ rule }) => rule)).not.toContain('target-disconnected');
    expect(failing.phase).toBe('stalled');
    // The watch does not log in to the target, so it names the command that shows what it does not know.
    const show = /`psql TARGET_URL ([^`]*)`/.exec(failing.cause?.hint ?? '')?.[1] ?? '';
    const { host, ownPort, password: PGPASSWORD } = pair.target;
    const url = `postgres://postgres@${host}:${ownPort}/shop?sslmode=disable`;
    const shown = execFileSync('sh', ['-c', `psql -X '${url}' ${show}`], { env: { ...process.env, PGPASSWORD } });
    expect(shown.toString()).toContain('"small_pkey" PRIMARY KEY');
    await pair.target.stop();
    const gone = await watch.until(
      'a stopped target',
      ({ violations }) =>
        violations.some(({ rule }) => rule === 'target-disconnected') &&
        violations.every(({ rule }) => rule !== 'apply-failing'),
    );
    expect(gone.phase).toBe('stalled');
    expect(gone.cause).toMatchObject({ rule: 'target-disconnected', basis: 'group' });
  },
);

it('a table that was written on the target before its copy is told, and the rest does not count as streaming', async () => {
  await setup(16, 10);
  await pair.target.query('INSERT INTO small VALUES (1)', 'shop');
  await pair.replicate('shop');
  const watch = startWatchRun(watchedPostgres(pair.source, 'shop'));
  const found = await watch.untilBroken('copy-failing');
  expect(found).toMatchObject({ phase: 'stalled' });
  const statement = found.violations.find(({ rule }) => rule === 'copy-failing')?.fix?.statement ?? '';
  expect(await pair.target.query(statement, 'shop')).toMatchObject([{ table: 'small', conname: 'small_pkey' }]);
  expect(watch.looks.every(({ idlePolls }) => idlePolls === 0)).toBe(true);
  await pair.target.query('TRUNCATE small', 'shop');
  await watch.until('an end of the copy', ({ violations }, { idlePolls }) => idlePolls > 0 && violations.length === 0);
});

it('what is altered on the source is named within two looks', async () => {
  await setup(16, 10);
  await pair.replicate('shop');
  const watch = startWatchRun(watchedPostgres(pair.source, 'shop'));
  await watch.until('an end of the copy', (_sample, { idlePolls }) => idlePolls > 0);
  const named = async (sql: string, rule: string) => {
    await pair.source.query(sql, 'shop');
    const after = watch.looks.length;
    await watch.untilBroken(rule);
    expect(watch.looks.length - after).toBeLessThanOrEqual(3);
    return watch.last().violations.find((one) => one.rule === rule);
  };
  const level = await named("ALTER SYSTEM SET wal_level = 'replica'", 'wal-level-changed');
  expect(level?.hint).toMatch(/^DO NOT RESTART THE SOURCE.*cloudctl_shop/);
  await pair.source.query("ALTER SYSTEM SET wal_level = 'logical'");
  await watch.until('cured', ({ violations }) => violations.length === 0);
  const slots = await named('ALTER SYSTEM SET max_replication_slots = 0', 'max-replication-slots-changed');
  expect(slots?.hint).toMatch(/^DO NOT RESTART THE SOURCE/);
  await pair.source.query('ALTER SYSTEM RESET max_replication_slots');
  await named('CREATE TABLE newt (id int)', 'table-new');
  await named('ALTER TABLE small ADD COLUMN c text', 'column-added');
  await named('ALTER TABLE big REPLICA IDENTITY NOTHING', 'replica-identity-removed');
  await named("ALTER PUBLICATION cloudctl_p SET (publish = 'insert')", 'publication-changed');
  await named('DROP PUBLICATION cloudctl_p', 'publication-dropped');
  await named("ALTER ROLE postgres VALID UNTIL '2000-01-01'", 'password-expired');
  await pair.source.rules('host all all 127.0.0.1/32 scram-sha-256');
  await watch.untilBroken('pg-hba-changed');
});

it('a source that stops is waited for, and one that comes back is followed again', async () => {
  await setup(18, 10);
  await pair.replicate('shop');
  const watch = startWatchRun(watchedPostgres(pair.source, 'shop'));
  await watch.until('an end of the copy', (_sample, { idlePolls }) => idlePolls > 0);
  await pair.source.restart();
  await watch.untilBroken('source-restarted');
  await watch.until('streaming again', ({ phase, violations }) => phase === 'streaming' && violations.length <= 1);
  const { port } = pair.source;
  process.kill(pair.source.pid()!, 'SIGQUIT');
  await watch.untilBroken('source-unreachable');
  expect(watch.last().phase).toBe('stalled');
  const gone = await watch.untilPhase('gone');
  expect(gone.violations[0]?.observed).toMatch(/\d+ s/);
  expect(port).toBeGreaterThan(0);
});

it('a slot that is dropped ends the watch, and says what to do', async () => {
  await setup(15, 10);
  await pair.replicate('shop');
  const watch = startWatchRun(watchedPostgres(pair.source, 'shop'));
  await watch.until('an end of the copy', (_sample, { idlePolls }) => idlePolls > 0);
  await pair.target.query('ALTER SUBSCRIPTION cloudctl_shop DISABLE', 'shop');
  await watch.until('inactive', () => watch.looks.length > 0);
  await expect
    .poll(
      () =>
        pair.source.query("SELECT pg_drop_replication_slot('cloudctl_shop')", 'shop').then(
          () => true,
          () => false,
        ),
      {
        timeout: 10_000,
      },
    )
    .toBe(true);
  const last = await watch.untilBroken('slot-dropped');
  expect(last.phase).toBe('stalled');
  expect(watch.looks.at(-1)?.ending?.message).toContain('cloudctl_shop');
});

it.each([12, 15, 18] as const)('PostgreSQL %i rejects no query', async (version) => {
  const server = await startPostgres({ version, settings: ready });
  await server.query('CREATE TABLE t (id int PRIMARY KEY)');
  const watch = startWatchRun(watchedPostgres(server, 'postgres'));
  const found = await watch.until('a look', () => true);
  expect(found.notes).toHaveLength(1);
  expect(found.databases).toMatchObject([{ name: 'postgres', tables: [{ name: 'public.t' }] }]);
});

it('a role that may see little is told what it does not see', async () => {
  const server = await startPostgres({ version: 18, settings: ready });
  await server.query("CREATE ROLE little LOGIN PASSWORD 'x'");
  const watch = startWatchRun(watchedPostgres(server, 'postgres', { username: 'little', password: 'x' }));
  const found = await watch.until('a look', () => true);
  expect(found.notes?.[0]).toMatch(/: .*files/);
});

it('many databases are visited in turn, without a session for each of them', async () => {
  const server = await startPostgres({ version: 18, settings: ready });
  const names = Array.from({ length: 12 }, (_, at) => `d${at}`);
  for (const name of names) {
    await server.query(`CREATE DATABASE ${name}`);
    await server.query('CREATE TABLE t (id int PRIMARY KEY)', name);
  }
  const watch = startWatchRun(watchedPostgres(server, 'postgres'));
  await watch.until('every table', ({ databases }) =>
    names.every((one) => databases.some(({ name, tables }) => name === one && tables.length === 1)),
  );
  const [row] = await server.query<{ count: string }>(
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'cloudctl-watch'",
  );
  expect(Number(row?.count)).toBeLessThanOrEqual(10);
});
