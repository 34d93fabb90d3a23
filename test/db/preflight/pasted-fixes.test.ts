import { expect, test } from 'vitest';
import { describeRemainsQuery } from '../../../src/db/cutover/remains.ts';
import { fixLinesOf } from '../../../src/db/preflight/formats/model.ts';
import { doStatement } from '../../../src/postgresql/quote.ts';
import { readProject } from '../../architecture/project.ts';
import { ready, startPostgres } from '../../fixtures/postgres.ts';
import { found, preflightServer } from './postgresql/preflight.ts';

/** What a role that may create objects in `public` puts before the operators and functions of PostgreSQL. */
const pairs = [
  ['oid', 'regclass'],
  ['oid', 'oid'],
  ['name', 'name'],
  ['name', 'text'],
  ['text', 'text'],
  ['"char"', '"char"'],
  ['timestamptz', 'timestamptz'],
] as const;

const hostile = [
  ...pairs.flatMap(([left, right], at) => [
    `CREATE FUNCTION public.canary${at}(${left}, ${right}) RETURNS boolean LANGUAGE plpgsql AS
     $$BEGIN RAISE LOG 'CANARY % ${left} ${right}', current_user; RETURN true; END$$`,
    ...['=', '<>', '~', '!~', '<', '>', '||'].map(
      (name) =>
        `CREATE OPERATOR public.${name} (LEFTARG = ${left}, RIGHTARG = ${right}, FUNCTION = public.canary${at})`,
    ),
  ]),
  ...['pg_drop_replication_slot(text)', 'now()', 'current_database()', 'to_regclass(text)', 'left(name, int)'].map(
    (signature) =>
      `CREATE FUNCTION public.${signature} RETURNS text LANGUAGE plpgsql AS
       $$BEGIN RAISE LOG 'CANARY % ${signature}', current_user; RETURN NULL; END$$`,
  ),
];

const tables = [
  'CREATE TABLE public.keyed (id int NOT NULL)',
  'CREATE UNIQUE INDEX keyed_id ON public.keyed (id)',
  'ALTER TABLE public.keyed REPLICA IDENTITY NOTHING',
  'CREATE TABLE public.broken (id int)',
  'INSERT INTO public.broken VALUES (1), (1)',
  'CREATE PUBLICATION cloudctl_0123',
];

test.each(['the default search_path', 'a stored search_path'])(
  'a superuser who pastes the fixes of a report runs no code of the owner of the database: %s',
  async (path) => {
    const server = await startPostgres({
      version: 16,
      settings: ready,
      setup: ['CREATE ROLE mallory', 'CREATE DATABASE opdb'],
    });
    for (const sql of tables) await server.query(sql, 'opdb');
    await server.query('CREATE UNIQUE INDEX CONCURRENTLY i_ccnew ON public.broken (id)', 'opdb').catch(() => {});
    await server.query("SELECT pg_create_logical_replication_slot('cloudctl_0123', 'pgoutput')", 'opdb');
    await server.query('GRANT CREATE ON SCHEMA public TO mallory; ALTER DATABASE opdb OWNER TO mallory', 'opdb');
    for (const sql of hostile) await server.query(`SET ROLE mallory; ${sql}`, 'opdb');
    if (path === 'a stored search_path')
      await server.query('ALTER DATABASE opdb SET search_path = public, pg_catalog', 'opdb');
    const report = await preflightServer(server);
    const findings = ['replica-identity', 'invalid-index', 'leftovers'].map((id) => found(report, id, 'opdb'));
    const lines = fixLinesOf({ findings }, report)
      .map((line) => line.replace(/^-- read first: /, ''))
      .filter((line) => !line.startsWith('--'));
    expect(lines.filter((line) => line.startsWith('DO '))).toHaveLength(3);
    expect(lines.some((line) => line.startsWith('SELECT pg_catalog.pg_drop_replication_slot('))).toBe(true);
    expect(server.log()).not.toContain('CANARY');
    for (const line of lines) await server.query(line, 'opdb');
    const shown = describeRemainsQuery({ id: '0123', record: undefined }).find((one) => one.startsWith('By hand'));
    await server.query(/: (SET .*)$/.exec(shown ?? '')?.[1] ?? '', 'opdb');
    expect(server.log()).not.toContain('CANARY');
    // The statements did what they are for.
    const after = await preflightServer(server);
    expect(['replica-identity', 'invalid-index', 'leftovers'].map((id) => found(after, id, 'opdb').status)).toEqual([
      'pass',
      'pass',
      'pass',
    ]);
  },
  120_000,
);

test('every DO statement sets the search_path before anything else', () => {
  const { files } = readProject(new URL('../../..', import.meta.url).pathname);
  const others = Object.entries(files).filter(
    ([path, text]) => path.startsWith('src/') && path !== 'src/postgresql/quote.ts' && /`DO \$\{|['"`]DO '/.test(text),
  );
  expect(others.map(([path]) => path)).toEqual([]);
  expect(doStatement("PERFORM 'a'", 'DECLARE b int; ')).toBe(
    "DO 'DECLARE b int; BEGIN SET LOCAL search_path TO pg_catalog, pg_temp; PERFORM ''a''; END'",
  );
});
