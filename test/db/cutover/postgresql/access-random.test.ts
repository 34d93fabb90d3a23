import { afterAll, beforeAll, expect, test } from 'vitest';
import { quoteIdentifier as q } from '../../../../src/postgresql/quote.ts';
import { hostileNames } from '../../../fixtures/hostile-names.ts';
import type { Postgres } from '../../../fixtures/postgres.ts';
import { startSource, startTarget } from '../../engine/servers.ts';
import { accessOf, applyAccess, compareShop } from './access-servers.ts';

let source: Postgres;
let target: Postgres;
beforeAll(async () => {
  [source, target] = await Promise.all([startSource({ version: 15 }), startTarget({ version: 18 })]);
});
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

/** A repeatable sequence of choices (mulberry32). */
function dice(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    chance: (share: number) => next() < share,
    of: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
  };
}

interface ObjectNames {
  readonly schema: string;
  readonly name: string;
  /** The number of the large object. */
  readonly large: number;
}

/** The objects, which both servers have; the names are those of the schema and of what is in it. */
function objects({ schema, name, large }: ObjectNames) {
  const at = (one: string) => `${q(schema)}.${q(one)}`;
  const [table, other, view, sequence, type] = [
    name,
    `${name.slice(0, 40)}2`,
    `${name.slice(0, 40)}v`,
    `${name.slice(0, 40)}s`,
    `${name.slice(0, 40)}t`,
  ];
  const ddl = [
    `CREATE SCHEMA ${q(schema)}`,
    `CREATE TYPE ${at(type)} AS ENUM ('a')`,
    `CREATE DOMAIN ${at('dom')} AS int`,
    `CREATE TABLE ${at(table)} (id serial, ${q(name)} int, kind ${at(type)})`,
    `CREATE TABLE ${at(other)} (id int, v text) PARTITION BY LIST (id)`,
    `CREATE VIEW ${at(view)} AS SELECT id FROM ${at(table)}`,
    `CREATE SEQUENCE ${at(sequence)}`,
    `CREATE FUNCTION ${at(name)}(a int, ${q(name)} ${at(type)}[]) RETURNS int LANGUAGE sql AS 'SELECT 1'`,
    `CREATE AGGREGATE ${at('agg')}(int) (SFUNC = int4pl, STYPE = int)`,
    `SELECT lo_create(${large})`,
  ];
  const kinds = [
    {
      on: `TABLE ${at(table)}`,
      owner: `TABLE ${at(table)}`,
      rights: [
        'SELECT',
        'INSERT',
        'UPDATE',
        'DELETE',
        'TRUNCATE',
        `SELECT (${q(name)})`,
        'UPDATE (id)',
        `INSERT (${q(name)})`,
      ],
    },
    {
      on: `TABLE ${at(other)}`,
      owner: `TABLE ${at(other)}`,
      rights: ['SELECT', 'REFERENCES', 'TRIGGER', 'SELECT (v)'],
    },
    { on: `TABLE ${at(view)}`, owner: `VIEW ${at(view)}`, rights: ['SELECT', 'UPDATE'] },
    { on: `SEQUENCE ${at(sequence)}`, owner: `SEQUENCE ${at(sequence)}`, rights: ['USAGE', 'SELECT', 'UPDATE'] },
    { on: `SEQUENCE ${at(`${Buffer.byteLength(name) > 50 ? '' : name}_id_seq`)}`, owner: undefined, rights: ['USAGE'] },
    {
      on: `FUNCTION ${at(name)}(int, ${at(type)}[])`,
      owner: `FUNCTION ${at(name)}(int, ${at(type)}[])`,
      rights: ['EXECUTE'],
    },
    { on: `FUNCTION ${at('agg')}(int)`, owner: `AGGREGATE ${at('agg')}(int)`, rights: ['EXECUTE'] },
    { on: `SCHEMA ${q(schema)}`, owner: `SCHEMA ${q(schema)}`, rights: ['USAGE', 'CREATE'] },
    { on: `TYPE ${at(type)}`, owner: `TYPE ${at(type)}`, rights: ['USAGE'] },
    { on: `DOMAIN ${at('dom')}`, owner: `DOMAIN ${at('dom')}`, rights: ['USAGE'] },
    { on: `LARGE OBJECT ${large}`, owner: `LARGE OBJECT ${large}`, rights: ['SELECT', 'UPDATE'] },
  ].filter(({ on }) => !on.includes('"_id_seq"'));
  return { ddl, kinds };
}

/** Statements that may fail, as many random ones do: what they leave is what counts. */
async function attempt(server: Postgres, database: string, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await server.query(statement, database).catch(() => {});
}

async function pair(seed: number, names: readonly ObjectNames[], roles: readonly string[]) {
  const database = `shop_${seed}`;
  const all = names.map(objects);
  const kinds = all.flatMap((one) => one.kinds);
  const schema = names[0]?.schema ?? '';
  for (const server of [source, target]) {
    await server.query(`CREATE DATABASE ${database}`);
    for (const role of [...roles, 'maker']) await server.query(`CREATE ROLE ${q(role)}`).catch(() => {});
    for (const statement of all.flatMap((one) => one.ddl)) await server.query(statement, database);
  }
  const { of, chance } = dice(seed);
  const statements: string[] = [];
  // No object is of the superuser, because views then keep their owner.
  for (const { owner } of kinds) if (owner !== undefined) statements.push(`ALTER ${owner} OWNER TO ${q(of(roles))}`);
  for (let step = 0; step < 50 * names.length; step += 1) {
    const { on, rights } = of(kinds);
    const who = chance(0.2) ? 'PUBLIC' : q(of(roles));
    const right = chance(0.1) ? 'ALL' : of(rights);
    const as = chance(0.4) ? `SET ROLE ${q(of(roles))}; ` : '';
    if (chance(0.65))
      statements.push(
        `${as}GRANT ${right} ON ${on} TO ${who}${who !== 'PUBLIC' && chance(0.4) ? ' WITH GRANT OPTION' : ''}`,
      );
    else statements.push(`${as}REVOKE ${right} ON ${on} FROM ${who} CASCADE`);
    if (chance(0.15))
      statements.push(
        `ALTER DEFAULT PRIVILEGES FOR ROLE ${q(of(roles))} ${chance(0.5) ? `IN SCHEMA ${q(schema)}` : ''} ${of(['GRANT SELECT ON TABLES TO', 'GRANT USAGE ON SEQUENCES TO', 'REVOKE EXECUTE ON FUNCTIONS FROM', 'GRANT EXECUTE ON FUNCTIONS TO'])} ${who}`,
      );
    if (chance(0.1))
      statements.push(
        `ALTER ROLE ${q(of(roles))} IN DATABASE ${database} SET search_path = ${q(schema)}, "a, b", public`,
        `COMMENT ON ROLE ${q(of(roles))} IS E'${'x\\n\\\\! touch canary'}'`,
        `GRANT ${q(of(roles))} TO maker${chance(0.5) ? ' WITH ADMIN OPTION' : ''}`,
      );
  }
  await attempt(source, database, statements);
  // The target has privileges of its own too, which the source does not have.
  await attempt(target, database, [
    `GRANT ALL ON SCHEMA ${q(schema)} TO PUBLIC`,
    `GRANT SELECT ON ${kinds[0]?.on} TO PUBLIC`,
    `GRANT SELECT (id) ON ${kinds[0]?.on} TO ${q(roles[0] ?? '')}`,
  ]);
  return database;
}

const short = hostileNames.filter((name) => Buffer.byteLength(name) < 60);
const cases = [
  ...[1, 2, 3, 4].map((seed) => ({
    seed,
    names: [{ schema: 'app', name: 'thing', large: 77 }],
    roles: ['anna', 'bert', 'carl', 'dora'],
  })),
  ...[0, 1, 2].map((group) => {
    const own = short.filter((_, at) => at % 3 === group);
    const names = own.map((name, at) => ({ schema: `s${name.slice(0, 30)}`, name, large: at + 1 }));
    return { seed: 100 + group, names, roles: own };
  }),
];

test.each(cases)('random privileges, seed $seed, are restored', async ({ seed, names, roles }) => {
  const database = await pair(seed, names, roles);
  await applyAccess({ source, target }, { database });
  const strip = (lines: readonly string[]) => lines.filter((line) => !line.startsWith('["public",'));
  expect(strip(await accessOf(target, database, true))).toEqual(strip(await accessOf(source, database, true)));
  expect((await compareShop({ source, target }, { database })).statements).toEqual([]);
  expect(await target.query("SELECT 1 FROM pg_roles WHERE rolname = 'pwned'")).toEqual([]);
});
