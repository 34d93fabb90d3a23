import { expect, test } from 'vitest';
import { findReferences } from '../../../../../src/db/preflight/postgresql/function-body/names.ts';
import { createRelationReader } from '../../../../../src/db/preflight/postgresql/function-body/unresolved-names.ts';
import type { ObjectBody } from '../../../../../src/db/preflight/postgresql/queries/function-bodies.ts';
import { knownDifferences, plpgsqlBodies, sqlBodies } from './function-bodies.ts';
import { type ParsedReferences, parsePlpgsqlBody, parseSqlBody } from './parse-tree.ts';

// PostgreSQL's own grammar (libpg-query) is the oracle for the search that the checks use.

test.each(sqlBodies)('an SQL body has the references of its parse tree: %s', async (body) => {
  expect(searchedReferences(body, 'sql')).toEqual(comparable(await parseSqlBody(body)));
});

test.each(plpgsqlBodies)('a PL/pgSQL body has the references of its parse tree: %s', async (body) => {
  expect(searchedReferences(body, 'plpgsql')).toEqual(comparable(await parsePlpgsqlBody(body)));
});

test.each(knownDifferences)('$body: the search misses $missing', async ({ language, body, missing }) => {
  const parsed = comparable(await (language === 'sql' ? parseSqlBody(body) : parsePlpgsqlBody(body)));
  const found = listed(searchedReferences(body, language));
  expect(listed(parsed).filter((one) => !found.includes(one))).toEqual([missing]);
  expect(found.filter((one) => !listed(parsed).includes(one))).toEqual([]);
});

test('a function reads the relations of its parse tree and of the functions that it calls', async () => {
  const texts = [
    'SELECT b(1) FROM orders',
    'SELECT c(2), (SELECT max(id) FROM archive)',
    'SELECT a(3) FROM sales.refunds',
  ];
  const bodies = texts.map((text, at) => functionBody('abc'.charAt(at), text));
  const parsed = await Promise.all(texts.map(parseSqlBody));
  const { reads } = createRelationReader(bodies)('a');
  expect(reads.map(({ schema, name }) => (schema === undefined ? name : `${schema}.${name}`)).sort()).toEqual(
    parsed.flatMap(({ relations }) => relations).sort(),
  );
});

function searchedReferences(body: string, language: 'sql' | 'plpgsql'): ParsedReferences {
  const found = findReferences(body, language);
  const names = (kind: string) => [
    ...new Set(
      found
        .filter((one) => one.kind === kind && (kind === 'relation' || !keywords.has(one.name)))
        .map(({ schema, name }) => (schema === undefined ? name : `${schema}.${name}`)),
    ),
  ];
  return comparable({
    relations: names('relation'),
    functions: names('function'),
    types: names('type'),
    operators: names('operator'),
  });
}

/**
 * Keywords that the search reports as names of functions or types. Without quotes no object has such a name, so the checks find none
 * of it; a relation need not exist to be read.
 */
const keywords: ReadonlySet<string> = new Set('cast conflict cursor declare materialized rollup rows'.split(' '));

/** Without what the grammar itself defines: it is in pg_catalog, or no name at all, whatever the search_path is. */
function comparable({ relations, functions, types, operators }: ParsedReferences): ParsedReferences {
  return {
    relations: relations.toSorted(),
    functions: functions.filter((name) => !grammarFunctions.has(name)).sort(),
    types: types.filter((name) => !standardTypes.has(name)).sort(),
    operators: operators.filter((name) => /[~!@#%^&|`?]|->/.test(name)).sort(),
  };
}

function listed(references: ParsedReferences): readonly string[] {
  return Object.entries(references).flatMap(([kind, names]: [string, readonly string[]]) =>
    names.map((name) => `${kind} ${name}`),
  );
}

/** Expressions that look like calls: https://www.postgresql.org/docs/18/functions.html */
const grammarFunctions: ReadonlySet<string> = new Set(
  'array coalesce extract greatest grouping least nullif overlay position row substring trim'.split(' '),
);

const standardTypes: ReadonlySet<string> = new Set(
  'boolean date int integer interval record refcursor text'.split(' '),
);

function functionBody(name: string, text: string): ObjectBody {
  return {
    oid: name,
    schema: 'public',
    name,
    signature: `${name}(integer)`,
    language: 'sql',
    text,
    bound: '',
    isView: false,
    hasPath: false,
    hasZone: false,
    hasRole: false,
    inlined: true,
    names: [],
    types: [],
    calls: [],
  };
}
