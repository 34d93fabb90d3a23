import { expect, test } from 'vitest';
import { superuserObjectsCheck } from '../../../../../src/db/preflight/postgresql/checks/superuser-objects.ts';
import { expectGolden } from '../../../../fixtures/golden.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { postgresqlTarget, preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

test.each([
  { objects: [], isSuperuser: undefined, verdict: 'pass' },
  { objects: ['cast (text AS integer)'], isSuperuser: undefined, verdict: 'fail continuous+dump' },
  { objects: ['cast (text AS integer)'], isSuperuser: false, verdict: 'fail continuous+dump' },
  { objects: ['cast (text AS integer)'], isSuperuser: true, verdict: 'warn' },
])('$objects, target with a superuser: $isSuperuser: $verdict', ({ objects, isSuperuser, verdict }) => {
  const target =
    isSuperuser === undefined
      ? undefined
      : { host: 'staging', port: 5432, postgresql: postgresqlTarget({ isSuperuser }) };
  const outcome = superuserObjectsCheck.evaluate(
    { superuserObjects: objects, publications: [] },
    'd1',
    sourceFacts(),
    preflightOptions({ target }),
  );
  expect(short(outcome)).toBe(verdict);
});

test.each([14, 18] as const)(
  'objects that only a superuser can create are found in PostgreSQL %i',
  async (version) => {
    const server = await startPostgres({ version, settings: ready });
    const setup = [
      'CREATE EXTENSION citext',
      "CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1'",
      "CREATE TYPE mood AS ENUM ('good')",
      'CREATE CAST (mood AS text) WITH INOUT',
      'CREATE AGGREGATE joined(text) (SFUNC = textcat, STYPE = text)',
    ];
    await server.query('CREATE DATABASE usual');
    await server.query('CREATE DATABASE special');
    for (const statement of setup) await server.query(statement, 'usual');
    for (const statement of [
      'CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler',
      'CREATE FOREIGN DATA WRAPPER empty',
      'CREATE OPERATOR FAMILY own USING btree',
      'CREATE CAST (varchar AS bytea) WITHOUT FUNCTION',
      'CREATE TEXT SEARCH TEMPLATE words (LEXIZE = dsimple_lexize, INIT = dsimple_init)',
    ])
      await server.query(statement, 'special');
    await server.query("CREATE FUNCTION silent(text) RETURNS text LANGUAGE sql LEAKPROOF AS 'SELECT $1'", 'postgres');
    const report = await preflightServer({ ...server, options: { targetVersion: '18', ignoreDbs: [] } });
    expect(found(report, 'superuser-objects', 'usual').status).toBe('pass');
    const objectsOf = (database: string) => found(report, 'superuser-objects', database).objects?.join('\n') ?? '';
    expectGolden('db-preflight', `${objectsOf('postgres')}\n${objectsOf('special')}`);
  },
  60_000,
);
