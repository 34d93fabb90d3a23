import { describe, expect, test } from 'vitest';
import type { Major } from '../../../../../scripts/postgres.mjs';
import { dumpOptionsCheck } from '../../../../../src/db/preflight/postgresql/checks/dump-options.ts';
import { laterKeywords } from '../../../../../src/db/preflight/postgresql/queries/catalog-predicates.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { expectOutcomeText } from '../expect-text.ts';
import { preflightOptions, short, sourceFacts } from '../facts.ts';
import { found, preflightServer } from '../preflight.ts';

const names = [{ object: 'index public.i', word: 'system_user', since: 16 }];
const json = [{ object: 'function public.f(json)', word: 'json', since: 17 }];
const grants = [{ signature: 'pg_is_in_backup()', since: 15, role: undefined }];
const dropped = [{ signature: 'function pgstattuple(text)', since: 0, role: '16400' }];

test.each([
  { keywordNames: [], builtInGrants: [], targetVersion: '17', verdict: 'pass' },
  { keywordNames: names, builtInGrants: [], targetVersion: '15', verdict: 'pass' },
  { keywordNames: names, builtInGrants: [], targetVersion: '16', verdict: 'unknown' },
  { keywordNames: json, builtInGrants: [], targetVersion: '16', verdict: 'pass' },
  { keywordNames: json, builtInGrants: [], targetVersion: '17', verdict: 'unknown' },
  { keywordNames: [], builtInGrants: grants, targetVersion: '14', verdict: 'pass' },
  { keywordNames: [], builtInGrants: grants, targetVersion: '15', verdict: 'unknown' },
  { keywordNames: [], builtInGrants: dropped, targetVersion: '18', verdict: 'unknown' },
  { keywordNames: names, builtInGrants: grants, targetVersion: undefined, verdict: 'unknown' },
])('$keywordNames $builtInGrants to $targetVersion: $verdict', ({ targetVersion, verdict, ...values }) => {
  const outcome = dumpOptionsCheck.evaluate(
    { ...values, encodedTexts: { encoding: '', objects: [] }, functions: [] },
    'd1',
    sourceFacts(),
    preflightOptions({ targetVersion }),
  );
  expect(short(outcome)).toBe(verdict);
  if (verdict !== 'pass') expectOutcomeText(outcome);
});

test('a function that a dump creates among the constraints is a question of the options too', () => {
  const functions = [{ object: 'function public.f()', needs: 'a restore in one part', since: 0 }];
  const values = { keywordNames: [], builtInGrants: [], encodedTexts: { encoding: '', objects: [] }, functions };
  const outcome = dumpOptionsCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
});

test('names that the client_encoding of the role has not are a question of the options too', () => {
  const values = {
    keywordNames: [],
    builtInGrants: [],
    encodedTexts: { encoding: 'LATIN1', objects: ['table t'] },
    functions: [],
  };
  const outcome = dumpOptionsCheck.evaluate(values, 'd1', sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe('unknown');
  expectOutcomeText(outcome);
});

describe.each([12, 15] as const)('on PostgreSQL %i', (version) => {
  test('every kind of definition is read, and names that are quoted or qualified are not reported', async () => {
    const server = await startPostgres({
      version,
      settings: ready,
      setup: [
        "CREATE TABLE t (id int PRIMARY KEY, system_user text UNIQUE DEFAULT 'system_user', CHECK (system_user <> 'x'))",
        'CREATE TABLE plain (system_user text PRIMARY KEY)',
        'CREATE TABLE r (id int PRIMARY KEY, system_user text REFERENCES t (system_user))',
        'CREATE INDEX i ON t (lower(system_user))',
        'CREATE STATISTICS s (ndistinct) ON id, system_user FROM t',
        'CREATE POLICY p ON t USING (system_user = current_user)',
        'CREATE VIEW v AS SELECT system_user FROM t',
        "CREATE FUNCTION f(system_user text) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE FUNCTION put(json json) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "CREATE FUNCTION rows() RETURNS TABLE (json_value text) LANGUAGE sql AS $$SELECT 'a'$$",
        'CREATE PROCEDURE p(merge_action text) LANGUAGE plpgsql AS $$BEGIN END$$',
        'CREATE AGGREGATE all_of(json_scalar int) (SFUNC = int4larger, STYPE = int)',
        'CREATE FUNCTION fine("select" json, path text, jsonb jsonb) RETURNS int LANGUAGE sql AS \'SELECT 1\'',
        'CREATE TABLE fine (json json, json_value text)',
        'CREATE VIEW fine_too AS SELECT json, lower(json_value) AS json_table FROM fine json_query',
        'CREATE SCHEMA json',
        "CREATE TYPE json.mood AS ENUM ('a')",
        "CREATE TYPE json.unused AS ENUM ('a')",
        'CREATE TABLE json.t (id int PRIMARY KEY)',
        'CREATE TABLE moods (m json.mood PRIMARY KEY)',
        'CREATE TABLE parts (system_user text) PARTITION BY LIST (system_user)',
        'GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text) TO pg_monitor',
        'GRANT EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, bytea) TO PUBLIC',
        'GRANT EXECUTE ON FUNCTION pg_switch_wal() TO pg_monitor',
      ],
    });
    const { objects = [] } =
      found(await preflightServer({ ...server, options: { targetVersion: '17' } }), 'dump-options') ?? {};
    expect(objects.filter((object) => !object.includes('view'))).toEqual([
      'aggregate public.all_of(integer)',
      'column public.parts.system_user',
      'column public.plain.system_user',
      'column public.r.system_user',
      'column public.t.system_user',
      'constraint r_system_user_fkey on public.r',
      'constraint t_system_user_check on public.t',
      'function public.f(text)',
      'function public.put(json)',
      'function public.rows()',
      'index public.i',
      'partition key of public.parts',
      'policy p on public.t',
      'procedure public.p(text)',
      'statistics s on public.t',
      'type json.mood',
      'privileges on pg_logical_emit_message(boolean,text,text)',
    ]);
  }, 60_000);
});

test('the words are those that pg_get_keywords() of each release has, and that of the release before has not', async () => {
  const keywords = async (version: Major) => {
    const server = await startPostgres({ version, direct: true });
    const rows = await server.query("SELECT word, catcode FROM pg_get_keywords() WHERE catcode IN ('C', 'R', 'T')");
    await server.stop();
    return new Map(rows.map((row) => [String(row.word), String(row.catcode)]));
  };
  let before = await keywords(12);
  for (const version of [13, 14, 15, 16, 17, 18] as const) {
    const now = await keywords(version);
    const isNew = ([word, code]: readonly [string, string]) => before.get(word) !== code;
    expect([...now].filter(isNew).sort()).toEqual(
      laterKeywords
        .filter(({ since }) => since === version)
        .flatMap(({ words, isReserved }) => words.map((word) => [word, isReserved ? 'R' : 'C']))
        .sort(),
    );
    before = now;
  }
}, 120_000);
