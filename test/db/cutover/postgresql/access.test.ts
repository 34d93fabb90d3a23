import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { describeLeftStatements } from '../../../../src/db/cutover/postgresql/access-script.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { copySchemaFromCatalog } from '../../engine/schema/schema-databases.ts';
import {
  beginMigration,
  postgresEndpointOf,
  startSource,
  startTarget,
  testEngineDependencies,
  waitForState,
} from '../../engine/servers.ts';
import { accessOf, applyAccess, compareShop, dumpedAccess, grantsCase, type Side } from './access-servers.ts';

async function run(server: Postgres, text: string, database = 'shop'): Promise<void> {
  for (const statement of text.split(/;\s*(?:\n|$|(?=[a-z]))/i).filter((one) => one.trim() !== ''))
    await server.query(statement, database).catch((cause) => {
      throw new Error(`could not run: ${statement}`, { cause });
    });
}

/** Moves the database with the engine, to the end. */
async function migrate({ source, target }: Side, beforeTheEnd = async () => {}): Promise<void> {
  const others = (await source.query('SELECT datname FROM pg_database')).map(({ datname }) => String(datname));
  const migration = beginMigration(
    {
      engine: 'postgresql',
      id: randomUUID(),
      source: postgresEndpointOf(source),
      target: postgresEndpointOf(target),
      ignoreDbs: others.filter((name) => name !== 'shop'),
      deadline: Number.POSITIVE_INFINITY,
      finishWhenIdle: false,
    },
    testEngineDependencies({ schemaCopy: copySchemaFromCatalog }),
  );
  await waitForState(migration, ({ status }) => status === 'syncing');
  await beforeTheEnd();
  expect(await migration.stop()).toEqual([]);
}

describe.each([12, 14, 15, 16, 17] as const)('from PostgreSQL %i to 18', (version) => {
  test('a migrated database gets its owners, privileges and settings back', async () => {
    const [source, target] = await Promise.all([startSource({ version }), startTarget({ version: 18 })]);
    await source.query('CREATE DATABASE shop');
    await run(source, grantsCase);
    await run(
      source,
      `grant select on app.t to shop_app with grant option;
       create role reader;
       grant usage on schema app to reader;
       create table public.serials (id serial, other int generated always as identity);
       alter table public.serials owner to shop_owner;
       revoke usage on language plpgsql from public;
       revoke execute on function pg_catalog.pg_stat_reset() from public;
       grant execute on function pg_catalog.pg_read_file(text) to reader;
       grant execute on function pg_catalog.pg_sleep(double precision) to reader;
       revoke execute on function pg_catalog.pg_sleep(double precision) from public;
       grant select on pg_catalog.pg_authid to reader;
       create domain app.d as int; revoke usage on type app.d from public;
       create aggregate app.total(int) (sfunc = int4pl, stype = int); revoke execute on function app.total(int) from public;
       create procedure app.p(a int, inout b text) language sql as 'select $2'; grant execute on procedure app.p to reader;
       alter role reader set work_mem = '7MB';
       alter database shop set search_path = "App, x", app, public;
       alter role shop_owner connection limit 3;
       comment on role reader is 'it''s
a reader'`,
    );
    await source.query('SET ROLE shop_app; GRANT SELECT ON app.t TO reader', 'shop');
    await source.query(
      'SELECT lo_create(5); ALTER LARGE OBJECT 5 OWNER TO shop_owner; GRANT SELECT ON LARGE OBJECT 5 TO reader',
      'shop',
    );
    const side = { source, target };
    const notes = async () => (await compareShop(side, { database: 'shop' })).access.databases[0]?.notes.join();
    await migrate(side, async () => expect(await notes()).toContain('subscription'));
    expect(await notes()).not.toContain('subscription');
    const before = await compareShop(side, { database: 'shop' });
    expect(before.script).toContain('\\password "shop_app"');
    expect(before.script).not.toMatch(/SCRAM|md5/);
    await applyAccess(side, { database: 'shop' });
    expect(await accessOf(target, 'shop', version < 17)).toEqual(await accessOf(source, 'shop', version < 17));
    expect(dumpedAccess(target, 'shop')).toEqual(dumpedAccess(source, 'shop'));
    const [allowed] = await target.query(
      `SELECT has_function_privilege('reader', 'pg_catalog.pg_sleep(double precision)', 'EXECUTE') AS reader,
         has_function_privilege('shop_app', 'pg_catalog.pg_sleep(double precision)', 'EXECUTE') AS others,
         has_function_privilege('reader', 'pg_catalog.pg_read_file(text)', 'EXECUTE') AS file,
         has_table_privilege('reader', 'pg_catalog.pg_authid', 'SELECT') AS passwords`,
      'shop',
    );
    expect(allowed).toEqual({ reader: true, others: false, file: true, passwords: true });
    const after = await compareShop(side, { database: 'shop' });
    expect(after.statements).toEqual([]);
    expect(after.script).toBeUndefined();
  });
});

/** One of each definition that the line of the checklist compares, in the forms that releases store in their own ways. */
const definitionsCase = `
create role app; create schema s; create extension hstore schema s;
create type s.mood as enum ('ok', 'bad'); create domain s.short as text check (length(value) < 9);
create table s.t (id int primary key, m s.mood, d s.short, h s.hstore, n numeric(9, 2) default 1.5 not null check (n > 0), g int generated always as (id * 2) stored, i int generated by default as identity, u int unique deferrable initially deferred, r int4range, w varchar(7)[], exclude using gist (r with &&));
create table s.child (id int references s.t on delete cascade deferrable, v text collate "C") ;
create table s.heir () inherits (s.child);
create table s.p (id int not null, k int not null references s.t, primary key (id, k)) partition by list (k);
create table s.p_1 partition of s.p for values in (1); create table s.p_2 partition of s.p default;
create table s.of_part (id int, k int, foreign key (id, k) references s.p (id, k)); create table s.numbered (id int generated always as identity, k int) partition by list (k); create table s.numbered_1 partition of s.numbered for values in (1);
create unlogged table s.scratch (a int); create sequence s.steps increment 5 cycle maxvalue 100;
create index on s.t (lower(d)) where id > 3; create unique index on s.t (n desc nulls last) include (u); create index on s.p (k);
create index concurrently on s.child using hash (v); cluster s.t using t_pkey; alter table s.t replica identity full;
create view s.v as select id, lower(d) as d from s.t where m = 'ok'; create materialized view s.mv as select id from s.t; create unique index on s.mv (id);
create function s.stamp() returns trigger language plpgsql security definer set search_path = s, pg_temp set work_mem = '3MB' as 'begin return new;/**/end';
create function s.many(a int default 7, variadic b text[] default '{}', out c int, out d s.mood) returns setof record language sql stable rows 3 cost 7 as 'select 1, ''ok''::s.mood';
create procedure s.work(inout a int) language plpgsql as 'begin a := 1;/**/end'; create aggregate s.total (int) (sfunc = int4pl, stype = int);
create trigger before_each before insert or update of d on s.t for each row when (new.id > 3) execute function s.stamp(); alter table s.t enable always trigger before_each;
create trigger of_parts after insert on s.p for each row execute function s.stamp();
create constraint trigger late after insert on s.child deferrable initially deferred for each row execute function s.stamp(); alter table s.child disable trigger late;
create trigger on_view instead of insert on s.v for each row execute function s.stamp();
create rule quiet as on delete to s.child do instead nothing;
alter table s.t enable row level security, force row level security;
create policy own on s.t as restrictive for update to app, public using (id > 0) with check (id > 1); create policy read on s.t for select to app using (true);
alter table s.child add constraint late_check check (id > 0) not valid`;

/** Statements on the source, with what the line then says. */
const laterDefinitions = [
  ['alter table s.child drop constraint child_id_fkey', 'constraint child_id_fkey on s.child is only on the target'],
  ['drop trigger late on s.child', 'trigger late on s.child is only on the target'],
  ['alter policy own on s.t using (id > 9)', 'policy own on s.t differs'],
  ['alter table s.t alter n set default 2.5', 'default of n of s.t differs'],
  [
    'alter table s.t drop constraint t_n_check, add constraint t_n_check check (n > 1)',
    'constraint t_n_check on s.t differs',
  ],
  ['alter table s.p detach partition s.p_2', 'parent p of s.p_2 is only on the target'],
  ['alter sequence s.steps increment 7', 'sequence s.steps differs'],
  [
    'drop index s.child_v_idx; create index child_v_idx on s.child using hash (v) where id > 1',
    'index child_v_idx on s.child differs',
  ],
  ['create view s.later_v as select 1 as one', 'view s.later_v is missing'],
  ['create policy p on s.child using (true)', 'policy p on s.child is missing'],
  ['alter policy read on s.t to public', 'policy read on s.t differs'],
  ['alter table s.child enable row level security', 'row security of s.child is missing'],
  ['create trigger t after insert on s.heir execute function s.stamp()', 'trigger t on s.heir is missing'],
  ['create rule r as on update to s.heir do instead nothing', 'rule r on s.heir is missing'],
  ['alter table s.heir add constraint c check (id > 0)', 'constraint c on s.heir is missing'],
  ['create index later on s.heir (id)', 'index later on s.heir is missing'],
  ['alter table s.scratch add b int', 'columns of s.scratch differs'],
  ['create table s.later_t (a int)', 'columns of s.later_t is missing'],
  [
    `create or replace function s.stamp() returns trigger language plpgsql security definer set search_path = s, pg_temp set work_mem = '3MB' as 'begin return null; end'`,
    'function s.stamp() differs',
  ],
  [
    'alter function s.many set search_path = s',
    'setting search_path of function s.many(a integer, VARIADIC b text[], OUT c integer, OUT d s.mood) is missing',
  ],
  [`alter type s.mood add value 'new'`, 'enum s.mood differs'],
] as const;

const textual: ReadonlySet<string> = new Set([
  'constraint t_n_check on s.t differs',
  'default of n of s.t differs',
  'index child_v_idx on s.child differs',
  'policy own on s.t differs',
]);

test.each([12, 14, 15, 16, 17, 18] as const)(
  'definitions of PostgreSQL %i that change while the migration runs are named',
  async (version) => {
    const [source, target] = await Promise.all([startSource({ version }), startTarget({ version: 18 })]);
    await source.query('CREATE DATABASE shop');
    await run(source, definitionsCase);
    const find = async () =>
      (await compareShop({ source, target }, { database: 'shop' })).access.databases[0]?.state?.definitions;
    await migrate({ source, target }, async () => {
      expect(await find()).toEqual([]);
      for (const [statement] of laterDefinitions) await source.query(statement, 'shop');
      // Releases before 14 write expressions in other words.
      const expected = laterDefinitions.map(([, found]) => found).filter((one) => version >= 14 || !textual.has(one));
      expect([...((await find()) ?? [])].sort()).toEqual(expected.sort());
    });
  },
);

describe.each([15, 18] as const)('a login of PostgreSQL %i without superuser', (version) => {
  const admin = { database: 'shop', username: 'admin', password: new Secret('pw') };

  test('hands over as a member of the roles, and says what is left', async () => {
    const [source, target] = await Promise.all([startSource({ version: 14 }), startTarget({ version })]);
    const side = { source, target };
    await source.query('CREATE DATABASE shop');
    await run(
      source,
      `${grantsCase};
       revoke execute on function pg_catalog.pg_sleep(double precision) from public;
       create role root superuser login;
       alter role shop_app set log_min_duration_statement = 7`,
    );
    await source.query('SET ROLE shop_owner; GRANT SELECT ON app.t TO root', 'shop');
    // As a service leaves it: its role owns the objects, and the login is a member.
    await target.query("CREATE ROLE admin LOGIN PASSWORD 'pw' CREATEROLE CREATEDB");
    await target.query('CREATE ROLE engine');
    await target.query('GRANT engine TO admin');
    await target.query('CREATE DATABASE shop OWNER admin');
    for (const role of ['shop_owner', 'shop_app', 'root'])
      await target.query(`SET ROLE admin; CREATE ROLE ${role} ${role === 'shop_owner' ? 'LOGIN' : ''}`);
    await run(
      target,
      `create schema app authorization engine; create table app.t(id int primary key, v text); alter table app.t owner to engine;
       create function app.f() returns int language sql as 'select 1'; alter function app.f() owner to engine`,
    );
    const script = await applyAccess(side, admin);
    const { statements } = await compareShop(side, admin);
    expect(statements.filter(({ left }) => left === undefined)).toEqual([]);
    expect(statements.map(({ sql }) => sql).sort()).toEqual([
      'ALTER ROLE "root" SUPERUSER',
      'ALTER ROLE "shop_app" SET "log_min_duration_statement" TO \'7\'',
      'REVOKE EXECUTE ON ROUTINE "pg_sleep"(double precision) FROM PUBLIC CASCADE',
    ]);
    expect(script).toMatch(
      /^-- {3}REVOKE EXECUTE ON ROUTINE "pg_sleep"\(double precision\) FROM PUBLIC CASCADE; {2}-- /m,
    );
    // The login keeps its own way into the database.
    const of = (lines: readonly string[]) =>
      lines
        .filter((line) => /"app|"shop"/.test(line) && !line.includes('app.f()'))
        .map((line) => line.replace('admin=CONNECT/shop_owner ', ''));
    expect(of(await accessOf(target, 'shop', true))).toEqual(of(await accessOf(source, 'shop', true)));
    // The login is in none of the roles afterwards.
    const [member] = await target.query("SELECT pg_has_role('admin', 'shop_owner', 'USAGE') AS used");
    expect(member).toEqual({ used: false });
  });

  test('that is a member of nothing prints comments only', async () => {
    const [source, target] = await Promise.all([startSource({ version: 15 }), startTarget({ version })]);
    for (const server of [source, target]) {
      await server.query('CREATE DATABASE shop');
      await run(server, "create role shop_app login password 'pw'; create table t (id int)");
    }
    await target.query("CREATE ROLE admin LOGIN PASSWORD 'pw'");
    await source.query('GRANT SELECT ON t TO shop_app', 'shop');
    const { script = '', statements, access } = await compareShop({ source, target }, admin);
    expect(statements).toMatchObject([{ section: 'grants', left: expect.stringContaining('postgres') }]);
    expect(script.split('\n').filter((line) => /^(GRANT|ALTER|REVOKE)/.test(line))).toEqual([]);
    const [left = ''] = describeLeftStatements(access);
    expect(left).toMatch(/^left: .*shop.*GRANT SELECT ON TABLE "public"."t" TO "shop_app"$/);
  });
});

test('objects of a superuser keep their owner when code in them would run with its rights', async () => {
  const [source, target] = await Promise.all([startSource({ version: 15 }), startTarget({ version: 18 })]);
  const side = { source, target };
  for (const server of [source, target]) {
    await server.query('CREATE DATABASE shop');
    await run(
      server,
      `create role app; create table t (id int); create view v as select id from t;
       create function f() returns int language sql security definer as 'select 1'`,
    );
  }
  await run(source, 'grant select on v to app; revoke execute on function f() from public');
  await run(
    target,
    'create role engine; alter table t owner to engine; alter view v owner to engine; alter function f() owner to engine',
  );
  const kept = await compareShop(side, { database: 'shop' });
  expect(kept.statements.map(({ sql }) => sql)).toEqual([
    'GRANT SELECT ON TABLE "public"."v" TO "app"',
    'REVOKE EXECUTE ON ROUTINE "public"."f"() FROM PUBLIC CASCADE',
  ]);
  expect(kept.access.databases[0]?.notes).toEqual([
    expect.stringMatching(/^3 .*cloudctl db grants --allow-superuser-owners/),
  ]);
  expect(kept.statements[1]).toMatchObject({ isPublicExcess: true });
  const given = await compareShop(side, { database: 'shop', allowSuperuserOwners: true });
  expect(given.statements.map(({ sql }) => sql)).toContain('ALTER VIEW "public"."v" OWNER TO "postgres"');
  expect(given.access.databases[0]?.notes).toEqual([]);
});

test.each([
  [
    'an index casts to a domain whose constraint calls it',
    `create function code(text) returns boolean immutable language sql as 'select true';
     create domain checked as text check (code(value)); create index i on t ((note::checked))`,
  ],
  [
    'an action of a foreign key fires its trigger',
    `create function code() returns trigger language plpgsql as 'begin return old; /**/end';
     alter table t add foreign key (id) references parents on delete cascade;
     create trigger code before delete on t for each row execute function code()`,
  ],
  [
    'an action of a foreign key needs its default',
    `create function code() returns int language sql as 'select 1';
     alter table t alter id set default code(), add foreign key (id) references parents on delete set default`,
  ],
])('tables of a superuser keep their owner when code runs as it: %s', async (_, code) => {
  const [source, target] = await Promise.all([startSource({ version: 15 }), startTarget({ version: 18 })]);
  for (const server of [source, target]) {
    await server.query('CREATE DATABASE shop');
    await run(server, `create table parents (id int primary key); create table t (id int, note text); ${code}`);
  }
  await run(target, 'create role engine; alter table t owner to engine');
  const { statements, access } = await compareShop({ source, target }, { database: 'shop' });
  expect(statements).toEqual([]);
  expect(access.databases[0]?.notes).toEqual([
    expect.stringMatching(/^1 .*cloudctl db grants --allow-superuser-owners/),
  ]);
});

test('a database that the fence of the source makes read-only stays writable on the target', async () => {
  const [source, target] = await Promise.all([startSource({ version: 15 }), startTarget({ version: 18 })]);
  for (const server of [source, target]) await server.query('CREATE DATABASE shop');
  await run(
    source,
    "alter database shop set work_mem = '5MB'; alter database shop set default_transaction_read_only = on",
  );
  const side = { source, target };
  const { statements } = await compareShop(side, { database: 'shop' });
  expect(
    statements.map(({ sql, left, isMinor }) => [
      /"(work_mem|default_\w+)"/.exec(sql)?.[1],
      left !== undefined,
      isMinor,
    ]),
  ).toEqual([
    ['work_mem', false, false],
    ['default_transaction_read_only', true, true],
  ]);
  await applyAccess(side, { database: 'shop' });
  expect(await target.query('SHOW default_transaction_read_only', 'shop')).toEqual([
    { default_transaction_read_only: 'off' },
  ]);
});

test('what only the target has is reset, and what keeps writers out of both sides is left for a review', async () => {
  const [source, target] = await Promise.all([startSource({ version: 15 }), startTarget({ version: 18 })]);
  const readOnly = 'set default_transaction_read_only = on';
  for (const server of [source, target]) {
    await server.query('CREATE DATABASE shop');
    await run(server, "create role app login; alter role app set work_mem = '5MB'");
  }
  await run(
    target,
    `create role of_service login; alter role of_service ${readOnly}; alter role app in database shop ${readOnly};
     alter role app set lock_timeout = '1s'; alter database shop set search_path = nowhere`,
  );
  await run(source, 'alter role app nologin; alter database shop connection limit 0');
  for (const server of [source, target]) await run(server, `alter database shop ${readOnly}`);
  const { statements } = await compareShop({ source, target }, { database: 'shop' });
  expect(statements.map(({ sql, left, isMinor }) => [sql, left === undefined ? 'run' : 'left', isMinor])).toEqual([
    ['ALTER ROLE "app" NOLOGIN', 'left', undefined],
    ['ALTER DATABASE "shop" RESET "default_transaction_read_only"', 'left', false],
    ['ALTER ROLE "app" RESET "lock_timeout"', 'run', false],
    ['ALTER DATABASE "shop" RESET "search_path"', 'run', false],
    ['ALTER ROLE "app" IN DATABASE "shop" RESET "default_transaction_read_only"', 'run', false],
    ['ALTER DATABASE "shop" CONNECTION LIMIT 0', 'left', true],
  ]);
});

test('materialized views that cannot be refreshed, large objects, extensions and statistics are named', async () => {
  const [source, target] = await Promise.all([startSource({ version: 15 }), startTarget({ version: 18 })]);
  await source.query('CREATE DATABASE shop');
  await source.query(
    `create table software (id int primary key, n int); insert into software values (1, 1);
     create function mentions() returns table (s int) language sql as 'select id from software';
     create materialized view counts as select count(*) from mentions();
     create table documents (id int primary key, body text); insert into documents values (1, 'hello world');
     create materialized view word_stats as select word, ndoc, nentry
       from ts_stat('select to_tsvector(''simple'', body) from documents');
     create materialized view never as select 1 as one with no data`,
    'shop',
  );
  await migrate({ source, target });
  await source.query('SELECT lo_create(0)', 'shop');
  await source.query('CREATE EXTENSION pgcrypto', 'shop').catch(() => {});
  await target.query('DROP EXTENSION IF EXISTS pgcrypto', 'shop');
  const find = async () => (await compareShop({ source, target }, { database: 'shop' })).access.databases[0]?.state;
  expect(await find()).toEqual({
    extensions: [expect.stringMatching(/^pgcrypto .* is missing$/)],
    definitions: [],
    materializedViews: ['public.counts is empty', 'public.word_stats is empty'],
    largeObjects: ['0 instead of 1'],
    unanalyzed: ['public.documents', 'public.software'],
    foreignOwners: [],
    keptOwners: [],
  });
  await target.query(
    `alter function mentions() set search_path = public; refresh materialized view counts;
     create extension pgcrypto; select lo_create(0)`,
    'shop',
  );
  await target.query('ANALYZE', 'shop');
  expect(await find()).toEqual({
    extensions: [],
    definitions: [],
    materializedViews: ['public.word_stats is empty'],
    largeObjects: [],
    unanalyzed: [],
    foreignOwners: [],
    keptOwners: [],
  });
});

test('objects of every kind get owner and privileges, and what only the target has stays', async () => {
  const [source, target] = await Promise.all([startSource({ version: 15 }), startTarget({ version: 18 })]);
  const side = { source, target };
  for (const server of [source, target]) {
    await server.query('CREATE DATABASE shop');
    await run(
      server,
      `create role app; create role other; create role "role with, ""quote""";
       create schema s;
       create extension pgcrypto; create extension hstore schema s;
       create foreign data wrapper dummy; create server far foreign data wrapper dummy;
       create collation s.plain from "C"; create conversion s.conv for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8;
       create function s.same(int, int) returns boolean language sql immutable as 'select $1 = $2';
       create function s.minus(int) returns int language sql immutable as 'select -$1';
       create operator s.=== (leftarg = int, rightarg = int, function = s.same);
       create operator s.!~~! (rightarg = int, function = s.minus);
       create operator family s.fam using btree; create operator class s.cls for type int using hash as operator 1 =;
       create text search dictionary s.dict (template = simple); create text search configuration s.conf (copy = simple);
       create table s.t (a int, b int, "c, ""d""" text); create statistics s.stats on a, b from s.t;
       create publication pub for table s.t;
       create type s.span as range (subtype = int); create type s.pair as (a int, b text[]);
       create procedure s.p(in a "char", out b s.pair, variadic c interval[]) language plpgsql as 'begin end';
       create function s.f(a timestamp(3), b double precision, c character varying(3)[], d s.span default null) returns int language sql as 'select 1';
       create aggregate s.share(int order by int) (sfunc = int4pl, stype = int, finalfunc = s.same);
       create materialized view s.m as select 1 as one; create view s.v as select a from s.t; create sequence s.free`,
    );
  }
  await run(
    source,
    `alter schema s owner to app; alter server far owner to app; alter collation s.plain owner to app; alter conversion s.conv owner to other;
     alter operator s.=== (int, int) owner to app; alter operator s.!~~! (none, int) owner to other;
     alter operator family s.fam using btree owner to app; alter operator class s.cls using hash owner to app;
     alter text search dictionary s.dict owner to app; alter text search configuration s.conf owner to "role with, ""quote""";
     alter table s.t owner to "role with, ""quote"""; alter statistics s.stats owner to app; alter publication pub owner to app;
     alter type s.span owner to app; alter type s.pair owner to app; alter procedure s.p owner to app; alter function s.f owner to other; alter aggregate s.share(int order by int) owner to app; revoke execute on function s.share(int, int) from public;
     grant select ("c, ""d"""), insert (a) on s.t to app with grant option;
     grant usage on foreign data wrapper dummy to app with grant option; grant usage on foreign server far to other;
     revoke execute on function digest(text, text) from public; grant execute on function digest(text, text) to app;
     revoke execute on procedure s.p from public; revoke usage on type s.span from public; revoke usage on type s.pair from public;
     grant set on parameter log_statement to app; grant select on pg_catalog.pg_statistic to other;
     revoke select on pg_catalog.pg_stat_activity from public;
     grant create on tablespace pg_default to app;
     revoke usage on schema pg_catalog from public; grant usage on schema pg_catalog to public;
     grant pg_monitor to app; grant app to other with admin option;
     alter role app createdb bypassrls valid until '2030-01-02 03:04:05+02';
     alter role all set datestyle = 'ISO, DMY'; alter role app set "x.y" = 'a''b\\c'`,
  );
  await run(target, `create role provider; grant all on s.t to provider; alter database shop set work_mem = '9MB'`);
  const script = await applyAccess(side, { database: 'shop', allowSuperuserOwners: true });
  expect(script).not.toContain('provider');
  expect((await compareShop(side, { database: 'shop', allowSuperuserOwners: true })).statements).toEqual([]);
  const owners = `SELECT 'operator' AS kind, oprname::text AS name, pg_get_userbyid(oprowner) AS owner FROM pg_operator WHERE oid >= 16384
    UNION ALL SELECT 'class', opcname, pg_get_userbyid(opcowner) FROM pg_opclass WHERE oid >= 16384
    UNION ALL SELECT 'family', opfname, pg_get_userbyid(opfowner) FROM pg_opfamily WHERE oid >= 16384
    UNION ALL SELECT 'collation', collname, pg_get_userbyid(collowner) FROM pg_collation WHERE oid >= 16384
    UNION ALL SELECT 'conversion', conname, pg_get_userbyid(conowner) FROM pg_conversion WHERE oid >= 16384
    UNION ALL SELECT 'dictionary', dictname, pg_get_userbyid(dictowner) FROM pg_ts_dict WHERE oid >= 16384
    UNION ALL SELECT 'configuration', cfgname, pg_get_userbyid(cfgowner) FROM pg_ts_config WHERE oid >= 16384
    UNION ALL SELECT 'statistics', stxname, pg_get_userbyid(stxowner) FROM pg_statistic_ext
    UNION ALL SELECT 'publication', pubname, pg_get_userbyid(pubowner) FROM pg_publication
    UNION ALL SELECT 'parameter', parname, paracl::text FROM pg_parameter_acl
    UNION ALL SELECT 'system', 'grants', concat(has_table_privilege('other', 'pg_statistic', 'SELECT'), has_table_privilege('other', 'pg_stat_activity', 'SELECT'))
    ORDER BY 1, 2`;
  expect(await target.query(owners, 'shop')).toEqual(await source.query(owners, 'shop'));
  // The newer pgcrypto has one function more.
  const own = (lines: readonly string[]) =>
    lines
      .filter((line) => !/work_mem|^\["(public"|fips_mode|provider)/.test(line))
      .map((line) => line.replaceAll(/provider=[A-Z]+\/role with, \\"quote\\" /g, ''));
  expect(own(await accessOf(target, 'shop', true))).toEqual(own(await accessOf(source, 'shop', true)));
});
