import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { postgresClient } from '../../../../scripts/postgres-client.mjs';
import type { Secret } from '../../../../src/base/secret.ts';
import {
  type CompareAccessOptions,
  compareAccess,
  renderAccessScript,
} from '../../../../src/db/cutover/postgresql/access-script.ts';
import { accessSections } from '../../../../src/db/cutover/postgresql/access-statements.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { runPsql } from '../../../fixtures/psql.ts';
import { postgresEndpointOf } from '../../engine/servers.ts';

/** The case `grants` of the shared cases: what an application needs beside its rows. */
export const grantsCase = `
create role shop_owner login password 'pw'; create role shop_app login password 'pw'; grant shop_owner to postgres;
create schema app authorization shop_owner; grant usage on schema app to shop_app; create table app.t(id int primary key, v text); alter table app.t owner to shop_owner; grant select, insert on app.t to shop_app; grant update(v) on app.t to shop_app;
alter default privileges for role shop_owner in schema app grant select on tables to shop_app;
create function app.f() returns int language sql as 'select 1'; revoke execute on function app.f() from public; grant execute on function app.f() to shop_app;
alter table app.t enable row level security; create policy p on app.t to shop_app using (true); insert into app.t values (1,'x');
alter role shop_app in database shop set search_path=app; alter database shop owner to shop_owner; revoke connect on database shop from public; grant connect on database shop to shop_app; alter database shop set timezone='Asia/Tokyo'; alter database shop connection limit 50; comment on database shop is 'x'; comment on table app.t is 'tc'`;

export interface Side {
  readonly source: Postgres;
  readonly target: Postgres;
}

export interface AccessRun extends Partial<CompareAccessOptions> {
  readonly database: string;
  /** The login of the target. */
  readonly username?: string;
  readonly password?: Secret;
}

export async function compareShop({ source, target }: Side, { database, username, password, ...more }: AccessRun) {
  const others = (await source.query('SELECT datname FROM pg_database WHERE NOT datistemplate'))
    .map(({ datname }) => String(datname))
    .filter((name) => name !== database);
  const login = { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }) };
  const access = await compareAccess(
    postgresEndpointOf(source, { dbname: database }),
    postgresEndpointOf(target, { dbname: database, ...login }),
    {
      ignoreDbs: others,
      sections: accessSections,
      allowSuperuserOwners: false,
      signal: new AbortController().signal,
      ...more,
    },
  );
  return { access, script: renderAccessScript(access), statements: access.databases.flatMap((one) => one.statements) };
}

/** Runs the script on the target as psql does, twice, because it must be idempotent. */
export async function applyAccess(side: Side, run: AccessRun): Promise<string> {
  const { script = '', access } = await compareShop(side, run);
  expect(access.databases.map(({ failure }) => failure)).toEqual([undefined]);
  for (let time = 0; time < 2; time += 1) {
    const ran = runPsql(side.target, script, {
      database: run.database,
      ...(run.username === undefined ? {} : { username: run.username, env: { PGPASSWORD: 'pw' } }),
    });
    expect([ran.code, ran.stderr, ran.created], script).toEqual([0, expect.not.stringMatching(/ERROR/), []]);
  }
  return script;
}

/**
 * Who owns what, and who may do what, as the catalogs tell it: with queries of its own, so that the program is not compared
 * with itself.
 */
export async function accessOf(server: Postgres, database: string, isBefore17: boolean): Promise<readonly string[]> {
  const lines: string[] = [];
  const ask = async (text: string) => {
    for (const row of await server.query(text, database)) lines.push(JSON.stringify(Object.values(row)));
  };
  const user = "!~ '^(pg_|information_schema$)'";
  const acl = (acls: string, kind: string, owner: string, maintain = false) =>
    `(SELECT string_agg(x.line, ' ' ORDER BY x.line) FROM (SELECT concat(CASE grantee WHEN 0 THEN '' ELSE pg_get_userbyid(grantee) END, '=',
      privilege_type, CASE WHEN is_grantable THEN '*' END, '/', pg_get_userbyid(grantor)) COLLATE "C" AS line
      FROM aclexplode(coalesce(${acls}, acldefault(${kind}, ${owner}))) WHERE ${maintain ? "privilege_type <> 'MAINTAIN'" : 'true'}) x)`;
  await ask(`SELECT c.oid::regclass::text, pg_get_userbyid(relowner), ${acl('relacl', `CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char"`, 'relowner', isBefore17)}
    FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE relkind IN ('r','p','v','m','S','f') AND nspname ${user}`);
  await ask(`SELECT attrelid::regclass::text, attname, (SELECT string_agg(a::text, ' ' ORDER BY a::text COLLATE "C") FROM unnest(attacl) a)
    FROM pg_attribute WHERE attacl <> '{}' AND attrelid >= 16384`);
  await ask(`SELECT p.oid::regprocedure::text, pg_get_userbyid(proowner), ${acl('proacl', "'f'", 'proowner')}
    FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE nspname ${user}`);
  await ask(`SELECT nspname, pg_get_userbyid(nspowner), ${acl('nspacl', "'n'", 'nspowner')} FROM pg_namespace
    WHERE nspname ${user} AND nspname <> 'public'`);
  await ask(`SELECT t.oid::regtype::text, pg_get_userbyid(typowner), ${acl('typacl', "'T'", 'typowner')} FROM pg_type t
    JOIN pg_namespace n ON n.oid = typnamespace WHERE nspname ${user} AND typtype IN ('d','e','r') `);
  await ask(`SELECT datname, pg_get_userbyid(datdba), datconnlimit, shobj_description(oid, 'pg_database'), ${acl('datacl', "'d'", 'datdba')}
    FROM pg_database WHERE datname = current_database()`);
  await ask(`SELECT lanname, lanacl FROM pg_language WHERE lanpltrusted`);
  await ask(`SELECT srvname, pg_get_userbyid(srvowner), ${acl('srvacl', "'S'", 'srvowner')} FROM pg_foreign_server`);
  await ask(`SELECT oid, pg_get_userbyid(lomowner), ${acl('lomacl', "'L'", 'lomowner')} FROM pg_largeobject_metadata`);
  await ask(`SELECT pg_get_userbyid(defaclrole), defaclnamespace::regnamespace::text, defaclobjtype,
    ${acl('defaclacl', "'r'", 'defaclrole', isBefore17)} FROM pg_default_acl`);
  await ask(`SELECT CASE setrole WHEN 0 THEN '' ELSE pg_get_userbyid(setrole) END, setdatabase = 0, setting FROM pg_db_role_setting, unnest(setconfig) setting
    WHERE setdatabase = 0 OR setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())`);
  await ask(`SELECT r.rolname, m.rolname, bool_or(admin_option) FROM pg_auth_members a JOIN pg_roles r ON r.oid = roleid JOIN pg_roles m ON m.oid = member
    WHERE m.oid >= 16384 AND m.rolname !~ '^cloudctl_' GROUP BY 1, 2`);
  await ask(`SELECT rolname, rolinherit, rolcreatedb, rolcanlogin, rolbypassrls, rolconnlimit, rolvaliduntil, shobj_description(oid, 'pg_authid')
    FROM pg_roles WHERE oid >= 16384 AND rolname !~ '^(cloudctl_|regress_)'`);
  return lines.sort();
}

/**
 * Owners and privileges as pg_dump 18 writes them for either server, sorted. MAINTAIN, which no release before 17 has, is left
 * out, and the privileges of ALL are named, because a release writes ALL for those that it has. The owner of the schema public
 * is a default of the release.
 */
export function dumpedAccess(server: Postgres, database: string): readonly string[] {
  const [command = '', ...words] = postgresClient('pg_dump', 18) ?? [];
  const to = ['--schema-only', '-h', server.host, '-p', String(server.ownPort), '-U', 'postgres', database];
  const ran = spawnSync(command, [...words, ...to], { encoding: 'utf8', env: { PGPASSWORD: 'secret' } });
  expect([ran.status, ran.stderr]).toEqual([0, '']);
  const ofTable = 'SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER';
  return ran.stdout
    .split('\n')
    .filter((line) => !line.startsWith('ALTER SCHEMA public OWNER TO'))
    .filter((line) => /^(GRANT|REVOKE|ALTER DEFAULT PRIVILEGES|ALTER .* OWNER TO) /.test(line))
    .map((line) =>
      line
        .replace(/\bALL( ON (?:TABLE|TABLES) )/, `${ofTable}$1`)
        .replace(/(?<=\(|, )IN /g, '')
        .replace(/,MAINTAIN|MAINTAIN,/, '')
        .replace(/(?<=^(?:.* )?(?:GRANT|REVOKE) )[A-Z,]+(?= ON )/, (list) => list.split(',').sort().join(',')),
    )
    .sort();
}
