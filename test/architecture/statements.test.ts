import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isJsonRecord } from '../../src/base/json.ts';
import { accessCatalogSql } from '../../src/db/cutover/postgresql/access-catalog.ts';
import { definitionsSql, stateSql } from '../../src/db/cutover/postgresql/database-state.ts';
import { unsupportedQuery } from '../../src/db/engine/schema/obstacles.ts';
import { copyTransaction } from '../../src/postgresql/table-rows.ts';
import { userCodeIn } from './statements.ts';
import { syntaxOf } from './syntax.ts';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

test.each([
  ['SELECT a FROM t', ['names t']],
  ['SELECT 1 FROM ONLY public.t WHERE b IS NULL', ['names public.t']],
  ['SELECT last_value, is_called FROM "s"."q"', ['names s.q']],
  ['COPY (SELECT * FROM t) TO STDOUT', ['names t']],
  ["COPY t FROM PROGRAM 'id'", ['names t']],
  ['LOCK TABLE t', ['names t']],
  ['WITH pg AS (SELECT 1) SELECT * FROM pg JOIN pgx ON true', ['names pgx']],
  [
    'SELECT to_json(a), row_to_json(b), json_agg(c), jsonb_build_object(1, d) FROM pg_class',
    ['calls json_agg', 'calls jsonb_build_object', 'calls row_to_json', 'calls to_json'],
  ],
  ["SELECT query_to_xml('SELECT 1', true, true, '')", ['calls query_to_xml']],
  ['SELECT public.f(1)', ['calls public.f']],
] as const)('%s is found', async (sql, found) => {
  expect(await userCodeIn(sql)).toEqual(found);
});

test.each([
  'WITH RECURSIVE l AS (SELECT oid FROM pg_class) SELECT * FROM l, pg_catalog.pg_type, unnest(ARRAY[1]) u',
  'COPY "public"."t" ("a") TO STDOUT (FORMAT binary)',
  'SELECT pg_catalog.format_type(1, 2), pg_sequence_last_value(3), array_agg(x) FROM information_schema.tables',
])('%s is fine', async (sql) => {
  expect(await userCodeIn(sql)).toEqual([]);
});

const versions = [90_600, 100_000, 110_000, 120_000, 130_000, 140_000, 150_000, 160_000, 170_000, 180_000];

test('no query of preflight, watch and the schema copier runs code of a user', async () => {
  const statements = new Set<string>();
  const modules: readonly Readonly<Record<string, unknown>>[] = await Promise.all(
    ['src/db/preflight/postgresql', 'src/db/watch/postgresql', 'src/db/engine/schema']
      .flatMap(sourcesIn)
      .map((path) => import(join(root, path))),
  );
  // A query that one check needs is in its file.
  const exported = modules.flatMap((one) => Object.values(one));
  const inChecks = exported.flatMap((one) =>
    isJsonRecord(one) && isJsonRecord(one.queries) ? Object.values(one.queries) : [],
  );
  for (const value of new Set([...exported, ...inChecks])) {
    // What is no whole statement is a part of others.
    if (typeof value === 'string' && isQuery(value) && (await isStatement(value))) statements.add(value);
    if (!isJsonRecord(value) || typeof value.sql !== 'function') continue;
    const { sql } = value;
    for (const version of versions)
      for (const text of textsOf((...words) => sql(...words), version, 'kind' in value)) statements.add(text);
  }
  for (const from of versions) {
    statements.add(unsupportedQuery({ from, to: 180_000 }));
    for (const one of [...accessCatalogSql(from), stateSql(from), definitionsSql(from)]) statements.add(one);
    for (const one of copyTransaction({ schema: 's', name: 't', columns: ['a'] }, from)) statements.add(one);
  }
  expect(statements.size).toBeGreaterThan(200);
  const found = new Map<string, readonly string[]>();
  for (const sql of statements) {
    const breaches = await userCodeIn(sql).catch((error: unknown) => [String(error)]);
    if (breaches.length > 0) found.set(sql, breaches);
  }
  expect([...found]).toEqual([]);
});

/** Shown to the owner of a relation, and never sent. */
const shownStatements = ['src/postgresql/sequence-state.ts', 'src/db/preflight/postgresql/owner-queries.ts'];

/** Parts of these are parsed by the test above, as whole statements. */
const composed =
  /^src\/(db\/preflight\/postgresql\/(queries\/|checks\/(column-order|dump-options|lost-rows|partitions|removed-types|system-tables)\.ts)|db\/engine\/schema\/|db\/cutover\/postgresql\/(access-(catalog|objects)|database-state)\.ts)/;

/** Before the COPY of a table, whose catalog entries are read again under it; a lock of one table plans nothing. */
const lockOfTable = 'LOCK TABLE ONLY … IN ACCESS SHARE MODE';

test('no other statement in the sources runs code of a user on the source', async () => {
  const found: string[] = [];
  let statements = 0;
  const folders = ['db', 'postgresql', 'commands/db'];
  for (const path of folders.flatMap((folder) => sourcesIn(`src/${folder}`))) {
    if (shownStatements.includes(path) || composed.test(path)) continue;
    for (const literal of syntaxOf(path, readFileSync(join(root, path), 'utf8')).literals) {
      if (!isQuery(literal) || literal === lockOfTable) continue;
      statements += 1;
      const sql = literal.replaceAll("'…'", "'x'").replaceAll('…', ' unknown_name ');
      const breaches = await userCodeIn(sql).catch(() => looselyFound(literal));
      found.push(...breaches.map((breach) => `${path} ${breach}: ${literal.slice(0, 80)}`));
    }
  }
  expect(statements).toBeGreaterThan(20);
  expect(found).toEqual([]);
});

/** In a fragment, which is no statement: a relation after FROM or JOIN that is not known here, or not a catalog. */
function looselyFound(fragment: string): readonly string[] {
  return [
    ...fragment.matchAll(/\b(?:FROM|JOIN|ONLY)\s+(…|(?!pg_|unnest|LATERAL\b|information_schema|\()[a-z"][\w."]*)/g),
  ].map(([, name]) => `names ${name}`);
}

async function isStatement(text: string): Promise<boolean> {
  return userCodeIn(text).then(
    () => true,
    () => false,
  );
}

function isQuery(text: string): boolean {
  return /^\s*(SELECT|WITH|TABLE|VALUES|DECLARE|EXPLAIN|LOCK)\s/.test(text);
}

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

function textsOf(sql: (...words: readonly unknown[]) => unknown, version: number, isPart: boolean): readonly string[] {
  const conditions = [true, false].flatMap((inRecovery) =>
    [true, false].map((superuser) => ({ inRecovery, superuser })),
  );
  // A query of the schema copier gets the versions of both servers, any other a version and what is known of the source.
  const words = isPart ? [[{ from: version, to: 180_000 }]] : conditions.map((condition) => [version, condition]);
  return words.flatMap((one) => {
    const text = sql(...one);
    return typeof text === 'string' ? [text] : [];
  });
}
