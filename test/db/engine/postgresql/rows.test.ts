import { expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { useServerPair } from '../server-pair.ts';
import { beginMigration, objectsOn, postgresEndpointOf, subscriptionsOn, testEngineDependencies } from '../servers.ts';

const servers = useServerPair();

/** A role that may read and nothing else. */
async function reader(database: string): Promise<string> {
  const { source } = servers();
  const role = `reader_${database}`;
  await source.query(`CREATE ROLE ${role} LOGIN PASSWORD 'readersword'`);
  await source.query(
    `GRANT USAGE ON SCHEMA public TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}; GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
    database,
  );
  return role;
}

async function dumpOf(database: string, role: string) {
  const { source, job } = servers();
  const endpoint = postgresEndpointOf(source, { username: role, password: new Secret('readersword') });
  return beginMigration(await job([database], { source: endpoint }));
}

test('a role that may not replicate gets a dump with a warning, which ends by itself', async () => {
  const { source, target, fresh } = servers();
  await fresh(
    'whole',
    'CREATE TABLE parent (id int PRIMARY KEY, at timestamptz, bytes bytea, odd text); CREATE TABLE a_child (parent int REFERENCES parent); CREATE SEQUENCE s',
    `INSERT INTO parent SELECT i, now(), decode(md5(i::text), 'hex'), E'tab\\t line\\n back\\\\ null \\\\N' || repeat('x', i % 90) FROM generate_series(1, 30000) i`,
    'INSERT INTO a_child SELECT id FROM parent; SELECT setval($$s$$, 77)',
  );
  const migration = await dumpOf('whole', await reader('whole'));
  const state = await migration.ended;
  expect(state).toMatchObject({ status: 'done', method: 'dump', leftovers: [] });
  expect(state.databases[0]).toMatchObject({
    phase: 'done',
    method: 'dump',
    tables: [
      { name: 'public.a_child', stage: 'r', rows: 30_000 },
      { name: 'public.parent', stage: 'r', rows: 30_000 },
    ],
  });
  expect(state.databases[0]?.warnings).toHaveLength(1);
  expectGolden('db-migrate', state.databases[0]?.warnings[0] ?? '');
  const sum = 'SELECT count(*)::int AS n, sum(hashtext(p::text)) AS h, (SELECT last_value FROM s) AS s FROM parent p';
  expect(await target.query(sum, 'whole')).toEqual(await source.query(sum, 'whole'));
  expect(await objectsOn(source)).toEqual([]);
  expect(await subscriptionsOn(target)).toEqual([]);
});

test('without a superuser of the target neither triggers nor foreign keys are in force during the copy, and are the same after it', async () => {
  const { source, target, fresh, job } = servers();
  const schema = `
    CREATE TABLE audit (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, what int);
    CREATE TABLE a_child (id int PRIMARY KEY, parent int);
    CREATE TABLE z_parent (id int PRIMARY KEY, child int REFERENCES a_child DEFERRABLE);
    ALTER TABLE a_child ADD CONSTRAINT "the key" FOREIGN KEY (parent) REFERENCES z_parent ON DELETE CASCADE;
    COMMENT ON CONSTRAINT "the key" ON a_child IS 'it''s a cycle';
    CREATE TABLE parted (id int REFERENCES z_parent) PARTITION BY LIST (id);
    CREATE TABLE part1 PARTITION OF parted FOR VALUES IN (1);
    CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.audit (what) VALUES (1); RETURN NEW; END';
    CREATE TRIGGER plain AFTER INSERT ON a_child FOR EACH ROW EXECUTE FUNCTION log();
    CREATE TRIGGER always AFTER INSERT ON z_parent FOR EACH ROW EXECUTE FUNCTION log();
    ALTER TABLE z_parent ENABLE ALWAYS TRIGGER always;
    CREATE CONSTRAINT TRIGGER late AFTER INSERT ON z_parent DEFERRABLE FOR EACH ROW EXECUTE FUNCTION log();
    CREATE TRIGGER replica AFTER INSERT ON z_parent FOR EACH ROW EXECUTE FUNCTION log();
    ALTER TABLE z_parent ENABLE REPLICA TRIGGER replica;
    CREATE TRIGGER off BEFORE INSERT ON z_parent FOR EACH ROW EXECUTE FUNCTION log();
    ALTER TABLE z_parent DISABLE TRIGGER off;
    CREATE TRIGGER parted AFTER INSERT ON parted FOR EACH ROW EXECUTE FUNCTION log();
    ALTER TABLE part1 ENABLE ALWAYS TRIGGER parted;
    CREATE VIEW v AS SELECT id FROM a_child;
    CREATE TRIGGER instead INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION log()`;
  await fresh(
    'plain',
    schema,
    'INSERT INTO a_child VALUES (1); INSERT INTO z_parent VALUES (1, 1); UPDATE a_child SET parent = 1; INSERT INTO parted VALUES (1)',
  );
  await target.query("CREATE ROLE plain LOGIN CREATEDB CREATEROLE PASSWORD 'plainword'");
  const ports = testEngineDependencies({
    schemaCopy: async () => {
      await target.query(`SET ROLE plain; ${schema}`, 'plain');
      return { kind: 'copied', by: 'test', warnings: [] };
    },
  });
  const login = postgresEndpointOf(target, { username: 'plain', password: new Secret('plainword') });
  const state = await beginMigration(await job(['plain'], { target: login, method: 'dump' }), ports).ended;
  expect(state).toMatchObject({ status: 'done', method: 'dump' });
  for (const text of [
    'SELECT * FROM audit ORDER BY id',
    'SELECT a.id, a.parent, z.child, p.id AS part FROM a_child a, z_parent z, parted p',
    'SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal OR tgconstraint = 0 ORDER BY 1, 2',
    `SELECT conrelid::regclass::text, conname, coninhcount, pg_get_constraintdef(oid), obj_description(oid, 'pg_constraint')
     FROM pg_constraint WHERE contype = 'f' ORDER BY 1, 2`,
  ])
    expect(await target.query(text, 'plain')).toEqual(await source.query(text, 'plain'));
});

test('with a superuser of the target the owner copies in replica mode, also rows that a foreign key would refuse', async () => {
  const { source, target, fresh, job } = servers();
  await fresh(
    'owned',
    `CREATE TABLE audit (what int);
     CREATE TABLE t (id int PRIMARY KEY, parent int REFERENCES t);
     CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.audit VALUES (1); RETURN NEW; END';
     CREATE TRIGGER replica AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION log();
     ALTER TABLE t ENABLE REPLICA TRIGGER replica`,
    `ALTER TABLE t DISABLE TRIGGER ALL; INSERT INTO t VALUES (1, 7); ALTER TABLE t ENABLE TRIGGER ALL; ALTER TABLE t ENABLE REPLICA TRIGGER replica`,
  );
  const state = await beginMigration(await job(['owned'], { method: 'dump' })).ended;
  expect(state).toMatchObject({ status: 'done', method: 'dump' });
  for (const text of [
    'SELECT * FROM audit',
    'SELECT * FROM t',
    "SELECT conname FROM pg_constraint WHERE contype = 'f'",
  ])
    expect(await target.query(text, 'owned')).toEqual(await source.query(text, 'owned'));
});

test('a table that the role may not read ends the dump with an error', async () => {
  const { fresh, source } = servers();
  await fresh('closed', 'CREATE TABLE t (id int PRIMARY KEY)');
  const role = await reader('closed');
  await source.query('CREATE TABLE locked (id int)', 'closed');
  expect(await (await dumpOf('closed', role)).ended).toMatchObject({
    status: 'error',
    reason: expect.stringMatching(/^closed: .*table locked$/),
  });
});

test('rows that a policy hides from the role are an error', async () => {
  const { fresh } = servers();
  await fresh(
    'hidden',
    'CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2); ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY odd ON t USING (id = 1)',
  );
  expect(await (await dumpOf('hidden', await reader('hidden'))).ended).toMatchObject({
    status: 'error',
    reason: expect.stringContaining('row-level security'),
  });
});

test('any other error of the replication set-up is reported, and nothing is dumped', async () => {
  const { source, target, fresh, job } = servers();
  await fresh('full', 'CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1)');
  const slots = Array.from({ length: 20 }, (_, at) => `taken_${at}`);
  for (const slot of slots) await source.query(`SELECT pg_create_physical_replication_slot('${slot}')`);
  try {
    const state = await beginMigration(await job(['full'])).ended;
    expect(state).toMatchObject({ status: 'error', method: undefined });
    expect(state.reason).toMatch(/replication slots/);
    expect(await target.query('SELECT id FROM t', 'full')).toEqual([]);
    expect((await objectsOn(source)).filter((name) => !name.startsWith('slot taken_'))).toEqual([]);
  } finally {
    for (const slot of slots) await source.query(`SELECT pg_drop_replication_slot('${slot}')`);
  }
});

test('a dump that is stopped ends at once and keeps what has arrived', async () => {
  const { target, fresh } = servers();
  await fresh(
    'halted',
    'CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1); CREATE TABLE b (id int, wide text)',
    "INSERT INTO b SELECT i, repeat('x', 2000) FROM generate_series(1, 60000) i",
  );
  const migration = await dumpOf('halted', await reader('halted'));
  while (migration.state().databases[0]?.tables.find(({ name }) => name === 'public.b')?.stage !== 'd') {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await migration.stop();
  expect(await migration.ended).toMatchObject({ status: 'canceled', databases: [{ phase: 'stopped' }] });
  expect(await target.query('SELECT id FROM a', 'halted')).toEqual([{ id: 1 }]);
});

test('a slow target slows the source down instead of filling the memory', async () => {
  const { fresh, target } = servers();
  await fresh(
    'wide',
    'CREATE TABLE t (id int, wide text)',
    'INSERT INTO t SELECT i, repeat(md5(i::text), 300) FROM generate_series(1, 12000) i',
  );
  await target.query('CREATE DATABASE wide');
  const before = process.memoryUsage().rss;
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss - before);
  }, 10);
  // A trigger that always fires makes the target slow.
  const ports = testEngineDependencies({
    schemaCopy: async (_from, to) => {
      await target.query(
        "CREATE TABLE t (id int, wide text); CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.0001); RETURN NEW; END'; CREATE TRIGGER slow BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION wait(); ALTER TABLE t ENABLE ALWAYS TRIGGER slow",
        'wide',
      );
      await target.query(`ALTER TABLE t OWNER TO "${to.username}"`, 'wide');
      return { kind: 'copied', by: 'test', warnings: [] };
    },
  });
  const { source, job } = servers();
  const role = await reader('wide');
  const endpoint = postgresEndpointOf(source, { username: role, password: new Secret('readersword') });
  const state = await beginMigration(await job(['wide'], { source: endpoint }), ports).ended;
  clearInterval(timer);
  expect(state).toMatchObject({ status: 'done' });
  // 115 MB went through.
  expect(most / 2 ** 20).toBeLessThan(60);
});
