import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  accessMethodOids,
  byteOrderCollations,
  catalogOids,
  defaultCollation,
  functionOids,
  languageOids,
  schemaOids,
  tablespaceOids,
  typeOids,
  writingFunctions,
} from '../../src/postgresql/catalog-oids.ts';
import { startPostgres } from '../fixtures/postgres.ts';

const folders = [
  'db/preflight/postgresql/checks',
  'db/preflight/postgresql/queries',
  'db/watch/postgresql',
  'db/engine/postgresql',
  'db/engine/schema',
  'db/engine/schema/parts',
];

test('no query contains a bare object id of a system catalog', () => {
  const found = folders
    .map((folder) => new URL(`../../src/${folder}/`, import.meta.url).pathname)
    .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/\b\w*(?:oid|classid|namespace|id|type) (?:=|<>|>=|<) '?[1-9]\d+/g),
    ])
    .map(([text]) => text);
  expect(found).toEqual([]);
});

/** Types that PostgreSQL 12 removed. */
const removed: ReadonlySet<string> = new Set(
  ['abstime', 'reltime', 'tinterval'].flatMap((name) => [name, `${name}Array`]),
);

test('the server gives every named object the object id of the constant', async () => {
  const server = await startPostgres({ version: 14 });
  const types = Object.entries(typeOids).filter(([name]) => !removed.has(name));
  const groups: readonly (readonly [string, readonly (readonly [string, number])[]])[] = [
    ["('pg_catalog.' || name)::regclass::oid", Object.entries(catalogOids)],
    ['name::regnamespace::oid', Object.entries(schemaOids)],
    ['(SELECT oid FROM pg_tablespace WHERE spcname = name)', Object.entries(tablespaceOids)],
    ['(SELECT oid FROM pg_language WHERE lanname = name)', Object.entries(languageOids)],
    ['(SELECT oid FROM pg_am WHERE amname = name)', Object.entries(accessMethodOids)],
    [
      '(SELECT oid FROM pg_collation WHERE collname = name)',
      [
        ['default', defaultCollation],
        ['C', byteOrderCollations[0] ?? 0],
        ['POSIX', byteOrderCollations[1] ?? 0],
      ],
    ],
    ['name::regproc::oid', Object.entries(functionOids)],
    ["('pg_catalog.' || quote_ident(name))::regtype::oid", types.filter(([name]) => !name.endsWith('Array'))],
    [
      "('pg_catalog.' || quote_ident(left(name, -5)) || '[]')::regtype::oid",
      types.filter(([name]) => name.endsWith('Array')),
    ],
  ];
  for (const [expression, constants] of groups) {
    const values = constants.map(([name]) => `('${name}')`).join(', ');
    const rows = await server.query<{ name: string; oid: number }>(
      `SELECT name, (${expression})::int AS oid FROM (VALUES ${values}) v(name)`,
    );
    expect(rows.map(({ name, oid }) => [name, oid])).toEqual(constants.map(([name, oid]) => [name, oid]));
  }
  const [written] = await server.query<{ names: string }>(
    `SELECT string_agg(DISTINCT proname, ' ' ORDER BY proname) AS names FROM pg_proc WHERE oid::text ~ '^(${writingFunctions})$'`,
  );
  expect(written?.names).toBe(
    'array_to_json array_to_string concat concat_ws format json_build_array json_build_object jsonb_build_array jsonb_build_object quote_literal quote_nullable row_to_json to_json to_jsonb',
  );
}, 60_000);
