import { describe, expect, test } from 'vitest';
import { addedExtensionMembersCheck } from '../../../../../src/db/preflight/postgresql/checks/added-members.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const member = { extension: 'hstore', signature: 'public.shout(text)', user: undefined };

test.each([
  { what: 'no function', added: [], verdict: 'pass' },
  { what: 'one that nothing needs', added: [member], verdict: 'warn' },
  { what: 'one that a view needs', added: [{ ...member, user: 'view public.v' }], verdict: 'fail continuous+dump' },
])('$what was added: $verdict', ({ added, verdict }) => {
  const outcome = addedExtensionMembersCheck.evaluate({ added }, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  test('functions of contrib extensions are known, one that was added is found, and the fix takes it out', async () => {
    const server = await startPostgres({ version, settings: ready });
    const contrib = [
      'hstore',
      'pg_trgm',
      'citext',
      'pgcrypto',
      'ltree',
      'cube',
      'earthdistance',
      'btree_gist',
      'btree_gin',
    ];
    const more = [
      'intarray',
      'tablefunc',
      'unaccent',
      'uuid-ossp',
      'pg_stat_statements',
      'postgres_fdw',
      'fuzzystrmatch',
    ];
    const [{ names = '' } = {}] = await server.query<{ names: string }>(
      `SELECT string_agg(quote_ident(name), ',' ORDER BY name = 'earthdistance') AS names FROM pg_available_extensions WHERE name IN ('${[...contrib, ...more].join("','")}')`,
    );
    for (const name of names.split(',')) await server.query(`CREATE EXTENSION ${name}`);
    const outcome = async () => found(await preflightServer(server), 'added-members', 'postgres');
    expect(names.split(',').length).toBeGreaterThan(10);
    expect(short(await outcome())).toBe('pass');
    // A range type creates the functions of its multirange type, whose names no script contains.
    await server.query('CREATE TYPE keyrange AS RANGE (subtype = int)');
    for (const type of ['keyrange', 'keymultirange']) {
      const functions = await server.query<{ name: string }>(
        `SELECT oid::regprocedure::text AS name FROM pg_proc WHERE proname = '${type}'`,
      );
      for (const { name } of functions) await server.query(`ALTER EXTENSION hstore ADD FUNCTION ${name}`);
    }
    expect(short(await outcome())).toBe('pass');
    await server.query('CREATE FUNCTION "Sh out"(text) RETURNS text IMMUTABLE LANGUAGE sql AS \'SELECT upper($1)\'');
    await server.query('ALTER EXTENSION hstore ADD FUNCTION "Sh out"(text)');
    expect(short(await outcome())).toBe('warn');
    await server.query('CREATE VIEW v AS SELECT "Sh out"(\'a\')');
    const needed = await outcome();
    expect(short(needed)).toBe('fail continuous+dump');
    for (const statement of needed.fix?.review ?? []) await server.query(statement);
    expect(short(await outcome())).toBe('pass');
  }, 60_000);
});
