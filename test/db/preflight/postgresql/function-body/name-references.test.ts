import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findReferences, type NameReference } from '../../../../../src/db/preflight/postgresql/function-body/names.ts';
import type { Operand } from '../../../../../src/db/preflight/postgresql/function-body/tokenize.ts';
import { type Postgres, startPostgres } from '../../../../fixtures/postgres.ts';

interface Text {
  readonly language: 'sql' | 'plpgsql';
  readonly text: string;
  /** Names of things that are there, and found only by the search_path. */
  readonly lost: readonly string[];
}

/** With an argument `kinds` of the name of a table, and what they return turned into a text. */
const fails: readonly Text[] = [
  {
    language: 'plpgsql',
    text: "DECLARE k text; BEGIN EXECUTE 'SELECT kind FROM kinds LIMIT 1' INTO k; RETURN 1; END",
    lost: ['relation kinds'],
  },
  { language: 'sql', text: 'SELECT kind FROM kinds LIMIT 1', lost: ['relation kinds'] },
  { language: 'sql', text: 'SELECT kind FROM ONLY KINDS', lost: ['relation kinds'] },
  { language: 'sql', text: 'SELECT a.kind FROM public.kinds a, "The Kinds" b', lost: ['relation The Kinds'] },
  {
    language: 'sql',
    text: 'SELECT 1 FROM public.kinds a JOIN (kinds b CROSS JOIN public.kinds c) ON true',
    lost: ['relation kinds'],
  },
  {
    language: 'sql',
    text: "SELECT CASE WHEN $1 = 'x' THEN (SELECT kind FROM kinds) ELSE 'b' END",
    lost: ['relation kinds'],
  },
  { language: 'sql', text: 'SELECT lower(plain($1))', lost: ['function plain'] },
  { language: 'sql', text: 'SELECT * FROM plain($1) kinds(a)', lost: ['function plain'] },
  { language: 'sql', text: 'SELECT $1 || 1::text /* public. */ || plain ( $1 )', lost: ['function plain'] },
  { language: 'sql', text: "SELECT 'good'::mood", lost: ['type mood'] },
  { language: 'sql', text: "SELECT CAST('good' AS mood)", lost: ['type mood'] },
  { language: 'sql', text: 'WITH other AS (SELECT 1 AS a) SELECT kind FROM other, kinds', lost: ['relation kinds'] },
  { language: 'plpgsql', text: 'BEGIN RETURN EXISTS (SELECT FROM kinds); END', lost: ['relation kinds'] },
  { language: 'plpgsql', text: 'BEGIN RETURN count(*) FROM kinds; END', lost: ['relation kinds'] },
  {
    language: 'plpgsql',
    text: 'BEGIN IF NOT EXISTS (SELECT FROM kinds) THEN RETURN 1; END IF; RETURN 2; END',
    lost: ['relation kinds'],
  },
  {
    language: 'plpgsql',
    text: "BEGIN IF $1 IS NULL THEN RETURN 'x'; END IF; RETURN plain($1); END;",
    lost: ['function plain'],
  },
  { language: 'sql', text: "SELECT 'kinds'::regclass::text", lost: ['relation kinds'] },
  { language: 'sql', text: `SELECT CAST('"The Kinds"' AS pg_catalog.regclass)`, lost: ['relation The Kinds'] },
  {
    language: 'sql',
    text: "SELECT regtype 'MOOD', 'plain(text)'::regprocedure",
    lost: ['type mood', 'function plain'],
  },
  { language: 'plpgsql', text: "BEGIN RETURN pg_get_serial_sequence('kinds', 'kind'); END", lost: ['relation kinds'] },
  {
    language: 'plpgsql',
    text: "BEGIN IF $1 = 'b' THEN RETURN 1; ELSIF $1 IS NULL THEN RETURN 2; ELSE RETURN plain($1); END IF; END",
    lost: ['function plain'],
  },
  { language: 'plpgsql', text: 'DECLARE m mood; BEGIN RETURN 1; END', lost: ['type mood'] },
  {
    language: 'plpgsql',
    text: 'BEGIN IF false THEN DECLARE m mood; BEGIN NULL; EXCEPTION WHEN others THEN NULL; END; END IF; RETURN 1; END',
    lost: ['type mood'],
  },
  {
    language: 'plpgsql',
    text: 'BEGIN IF $1 IS NULL THEN RETURN 1; END IF; PERFORM kind FROM kinds; RETURN 2; END',
    lost: ['relation kinds'],
  },
  { language: 'plpgsql', text: 'DECLARE "x" CONSTANT mood := NULL; BEGIN RETURN 1; END', lost: ['type mood'] },
  { language: 'plpgsql', text: 'DECLARE r kinds%ROWTYPE; BEGIN RETURN 1; END', lost: ['relation kinds'] },
  { language: 'plpgsql', text: 'DECLARE r kinds.kind%TYPE; BEGIN RETURN 1; END', lost: ['relation kinds'] },
  {
    language: 'plpgsql',
    text: '<<outer>> DECLARE n int; BEGIN SELECT count(*) INTO STRICT n FROM kinds; RETURN n; END outer',
    lost: ['relation kinds'],
  },
  {
    language: 'plpgsql',
    text: 'DECLARE r record; BEGIN FOR r IN SELECT * FROM kinds LOOP RETURN 1; END LOOP; RETURN 2; END',
    lost: ['relation kinds'],
  },
  {
    language: 'plpgsql',
    text: "BEGIN CASE (SELECT count(*) FROM kinds) WHEN 1 THEN RETURN 'a'; ELSE RETURN 'b'; END CASE; END",
    lost: ['relation kinds'],
  },
  {
    language: 'plpgsql',
    text: 'DECLARE n int := CASE WHEN true THEN 1 ELSE 2 END; BEGIN PERFORM 1; n := n + 1; PERFORM kind FROM kinds; RETURN n; END',
    lost: ['relation kinds'],
  },
  {
    language: 'plpgsql',
    text: "BEGIN INSERT INTO kinds (kind) VALUES ('new'); RETURN 1; END",
    lost: ['relation kinds'],
  },
  { language: 'plpgsql', text: 'BEGIN UPDATE kinds SET kind = kind; RETURN 1; END', lost: ['relation kinds'] },
  {
    language: 'plpgsql',
    text: 'BEGIN DELETE FROM public.kinds k USING "The Kinds" t WHERE t.kind = k.kind; RETURN 1; END',
    lost: ['relation The Kinds'],
  },
];

const works: readonly Text[] = [
  { language: 'sql', text: 'SELECT kind FROM public.kinds', lost: [] },
  { language: 'sql', text: 'SELECT kinds.kind FROM "public" . "kinds"', lost: [] },
  { language: 'sql', text: "SELECT 'SELECT kind FROM kinds' || $t$ plain($1) $t$ || E'\\' plain('", lost: [] },
  { language: 'sql', text: 'SELECT kinds -- FROM kinds\n /* plain( /* nested */ FROM kinds */', lost: [] },
  { language: 'sql', text: 'WITH kinds AS (SELECT 1 AS kind) SELECT kind FROM kinds', lost: [] },
  {
    language: 'sql',
    text: 'WITH RECURSIVE kinds (kind) AS NOT MATERIALIZED (SELECT 1 UNION SELECT kind FROM kinds) SELECT kind FROM kinds',
    lost: [],
  },
  { language: 'sql', text: 'SELECT substring(kinds FROM 1) || trim(both FROM kinds)', lost: [] },
  { language: 'sql', text: 'SELECT kinds IS DISTINCT FROM kinds, kinds AS plain', lost: [] },
  { language: 'sql', text: 'SELECT a FROM unnest(ARRAY[1, 2]) AS plain(a)', lost: [] },
  { language: 'sql', text: 'SELECT a FROM unnest(ARRAY[1, 2]) plain(a) GROUP BY a, plain', lost: [] },
  { language: 'sql', text: "SELECT 'good'::public.mood", lost: [] },
  { language: 'sql', text: "SELECT 'public.kinds'::regclass, 'kinds'::text, lower('kinds')", lost: [] },
  { language: 'sql', text: 'SELECT public.plain($1), 1 AS mood ORDER BY 1, mood', lost: [] },
  { language: 'sql', text: 'SELECT x.kinds FROM (SELECT 1 AS kinds) x, LATERAL (SELECT x.kinds) kinds', lost: [] },
  {
    language: 'plpgsql',
    text: "DECLARE plain int; mood text := 'x'; BEGIN SELECT 1 INTO plain; RETURN plain; END",
    lost: [],
  },
  {
    language: 'plpgsql',
    text: 'DECLARE c CURSOR FOR SELECT 1; kinds int; BEGIN OPEN c; FETCH NEXT FROM c INTO kinds; CLOSE c; RETURN kinds; END',
    lost: [],
  },
  {
    language: 'plpgsql',
    text: "BEGIN RAISE NOTICE 'FROM kinds'; RETURN (SELECT kind FROM public.kinds FOR UPDATE LIMIT 1); END",
    lost: [],
  },
];

test('a keyword before a parenthesis is no function, even where one has its name', () => {
  const text = 'BEGIN IF (1 IN (2, 3)) AND EXISTS (SELECT 1) THEN RETURN (1); END IF; RETURN "if"(1); END';
  expect(findReferences(text, 'plpgsql').map(({ name }) => name)).toEqual(['=', 'if']);
});

test.each([
  ['WITH kinds AS (SELECT * FROM kinds) SELECT count(*) FROM kinds', 1],
  ['WITH RECURSIVE kinds AS (SELECT 1 UNION ALL SELECT * FROM kinds) SELECT * FROM kinds', 0],
  ['WITH kinds (a) AS (SELECT 1), b AS (SELECT a FROM kinds) SELECT a FROM b, kinds', 0],
  ['SELECT 1 FROM kinds; WITH kinds AS MATERIALIZED (SELECT 1) SELECT * FROM kinds', 1],
])('a query of WITH does not see its own name: %s', (text, count) => {
  expect(findReferences(text, 'sql').filter(({ kind }) => kind === 'relation')).toHaveLength(count);
});

/** They may fail: it depends on the row, or nobody sees it. */
const undecided: readonly Text[] = [
  {
    language: 'plpgsql',
    text: "BEGIN IF $1 = 'rare' THEN EXECUTE 'SELECT kind FROM kinds ' || 'LIMIT 1'; END IF; RETURN 1; END",
    lost: ['relation kinds'],
  },
  {
    language: 'plpgsql',
    text: "BEGIN CASE $1 WHEN 'a' THEN RETURN 1; ELSE RETURN plain($1); END CASE; END",
    lost: ['function plain'],
  },
  { language: 'plpgsql', text: 'BEGIN RETURN 1; PERFORM kind FROM kinds; END', lost: ['relation kinds'] },
  {
    language: 'plpgsql',
    text: "BEGIN IF $1 = 'rare' THEN RETURN (SELECT kind FROM kinds); END IF; RETURN 1; END",
    lost: ['relation kinds'],
  },
  {
    language: 'plpgsql',
    text: "BEGIN IF $1 = 'a' THEN RETURN 1; ELSIF plain($1) = 'b' THEN RETURN 2; END IF; RETURN 3; END",
    lost: ['function plain'],
  },
  {
    language: 'plpgsql',
    text: "BEGIN WHILE $1 = 'rare' LOOP PERFORM plain($1); END LOOP; RETURN 1; END",
    lost: ['function plain'],
  },
  {
    language: 'plpgsql',
    text: 'BEGIN PERFORM kind FROM kinds; RETURN 1; EXCEPTION WHEN undefined_table THEN RETURN 2; END',
    lost: ['relation kinds'],
  },
  {
    language: 'plpgsql',
    text: "BEGIN IF $1 = 'rare' THEN EXECUTE 'SELECT kind FROM kinds'; END IF; RETURN 1; END",
    lost: ['relation kinds'],
  },
];

/** What the fixture has, and pg_catalog has not. */
const present = ['relation kinds', 'relation The Kinds', 'function plain', 'type mood'];

function lostOf(mentions: readonly NameReference[]): readonly string[] {
  const lost = mentions.filter(({ schema }) => schema === undefined).map(({ kind, name }) => `${kind} ${name}`);
  return [...new Set(lost)].filter((one) => present.includes(one));
}

test.each([...fails, ...works, ...undecided])('$text: $lost', ({ text, language, lost }) => {
  expect(lostOf(findReferences(text, language))).toEqual(lost);
});

test.each(fails)('it is certain of $text', ({ text, language, lost }) => {
  expect(lostOf(findReferences(text, language).filter(({ certain }) => certain))).toEqual(lost);
});

test.each(undecided)('it is not certain of $text', ({ text, language }) => {
  expect(lostOf(findReferences(text, language).filter(({ certain }) => certain))).toEqual([]);
});

test('a RETURN that goes on, or stands in a branch, ends nothing', () => {
  for (const text of [
    'BEGIN RETURN NEXT 1; PERFORM kind FROM kinds; END',
    'BEGIN RETURN QUERY SELECT 1; PERFORM kind FROM kinds; END',
    'BEGIN IF false THEN NULL; ELSE RETURN; END IF; PERFORM kind FROM kinds; END',
    'BEGIN IF true THEN RETURN; END IF; PERFORM kind FROM kinds; END',
  ]) {
    expect(findReferences(text, 'plpgsql'), text).toMatchObject([{ name: 'kinds', certain: true }]);
  }
});

const beside: readonly (readonly [text: string, operators: readonly string[]])[] = [
  ["SELECT $1 ? 'a'", ['$1 ? .']],
  ["SELECT $1->'a' #> b", ['$1 -> .', '. #> b']],
  ['SELECT a--1\n@>b /* % */ <-> -1', ['a @> b', 'b <-> .']],
  ["SELECT 'x'::public.ltree <@ $1::text", ['::ltree <@ ::text']],
  ['SELECT t.a % b.c', ['. % .']],
  ['SELECT a OPERATOR(public.%) b', []],
  ['UPDATE public.t SET a = b WHERE a = b', ['a = b']],
];

test.each(beside)('beside the operators of %s stands what may be an argument', (text, operators) => {
  const shown = (operand: Operand | undefined) =>
    operand === undefined ? '.' : 'type' in operand ? `::${operand.type}` : operand.argument;
  const found = findReferences(text, 'sql').flatMap(({ name, operands }) =>
    operands === undefined ? [] : [`${shown(operands[0])} ${name} ${shown(operands[1])}`],
  );
  expect(found.filter((one) => !one.includes(' - '))).toEqual(operators);
});

test('a text that breaks off is read to its end', () => {
  for (const text of [
    "SELECT 'x",
    'SELECT "x',
    'SELECT /* x',
    'SELECT $a$ x',
    'SELECT f((',
    'SELECT a.',
    ')))',
    'BEGIN END; END; END',
  ]) {
    for (const language of ['sql', 'plpgsql'] as const) expect(lostOf(findReferences(text, language))).toEqual([]);
  }
});

describe.each([14, 18] as const)('on PostgreSQL %i', (version) => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres({
      version,
      setup: [
        'CREATE TABLE kinds (kind text)',
        'CREATE TABLE "The Kinds" (kind text)',
        "INSERT INTO kinds VALUES ('a')",
        "CREATE TYPE mood AS ENUM ('good')",
        'CREATE FUNCTION plain(text) RETURNS text LANGUAGE sql AS $$SELECT $1$$',
      ],
    });
  }, 60_000);
  afterAll(() => server?.stop());

  const called = async (path: string, { text, language }: Text) => {
    const returns = language === 'sql' ? 'SETOF record' : 'text';
    await server.query(
      `SET check_function_bodies = off; DROP FUNCTION IF EXISTS public.f; CREATE FUNCTION public.f(kinds text) RETURNS ${returns} LANGUAGE ${language} AS $body$${text}$body$`,
    );
    const call = language === 'sql' ? `SELECT count(x) FROM (SELECT public.f('a')) x` : `SELECT public.f('a')`;
    return server.query(`BEGIN; SET LOCAL search_path = ${path}; ${call}; ROLLBACK`).then(
      () => 'works',
      (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
    );
  };

  test('what is certain to fail fails there without a search_path, and works with one', async () => {
    for (const text of fails) {
      // Class 42: undefined objects, and syntax errors at %TYPE.
      expect(await called("''", text), text.text).toMatch(/^42/);
      expect(await called('public', text), text.text).toBe('works');
    }
  });

  test('what needs none, or may not need one, works there', async () => {
    for (const text of [...works, ...undecided]) expect(await called("''", text), text.text).toBe('works');
  });
});

test.each([
  "nextval('kinds'::text)",
  "nextval('kinds')",
  "nextval('kinds'::regclass)",
  "to_regclass('kinds'::varchar)",
  "pg_relation_size('kinds')",
  "pg_relation_size('kinds', 'main')",
  "has_table_privilege('kinds', 'SELECT')",
])('the name in %s is that of a relation', (call) => {
  expect(lostOf(findReferences(`SELECT ${call}`, 'sql'))).toEqual(['relation kinds']);
  expect(lostOf(findReferences(`SELECT length('kinds'::text)`, 'sql'))).toEqual([]);
});

test.each([
  { call: "to_tsvector('plain', body)", names: ['text search configuration plain'] },
  { call: "websearch_to_tsquery('plain', word)", names: ['text search configuration plain'] },
  { call: "to_tsvector('plain'::regconfig, body)", names: ['text search configuration plain'] },
  { call: "public.unaccent('plain', word)", names: ['text search dictionary plain'] },
  { call: "unaccent(regdictionary 'plain', word)", names: ['text search dictionary plain'] },
  { call: "to_tsvector('plain')", names: [] },
  { call: "public.unaccent('plain')", names: [] },
  { call: "to_tsvector(cfg, 'plain')", names: [] },
])('$call looks up $names', ({ call, names }) => {
  const found = findReferences(`SELECT ${call}`, 'sql').filter(({ kind }) => kind.startsWith('text search'));
  expect(found.map(({ kind, name }) => `${kind} ${name}`)).toEqual(names);
});
