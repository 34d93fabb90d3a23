import { overwritePages } from '../../../fixtures/damage-page.ts';
import { type PostgresCase, pgcopydbLimits } from '../case.ts';

/** Rows are read before the verdict. */
const options = { deep: { bytesPerSecond: 1e9, timeout: undefined } };

/** Makes rows that the unique index of the table does not contain. */
function withoutIndex(index: string, ...statements: readonly string[]): readonly string[] {
  const ready = (value: boolean) => `UPDATE pg_index SET indisready = ${value} WHERE indexrelid = '${index}'::regclass`;
  return [ready(false), ...statements, ready(true)];
}

/** A text with the bytes, whatever the encoding of the database is. */
function asText(table: string, hex: string): readonly string[] {
  return [
    'CREATE CAST (bytea AS text) WITHOUT FUNCTION',
    `INSERT INTO ${table} VALUES (1, '\\x${hex}'::bytea::text)`,
    'DROP CAST (bytea AS text)',
  ];
}

/** What only the rows show. */
export const deepCases: readonly PostgresCase[] = [
  {
    name: 'deep: rows without a fault',
    verdict: 'continuous',
    quick: true,
    options,
    setup: [
      "CREATE TYPE mood AS ENUM ('a', 'b')",
      'CREATE TABLE keys (id bigint PRIMARY KEY, t text UNIQUE, u uuid UNIQUE, n numeric(9,2) UNIQUE, c char(5) UNIQUE, m mood, b bytea UNIQUE, d timestamptz UNIQUE, UNIQUE (m, t))',
      `INSERT INTO keys SELECT g, CASE WHEN g % 3 > 0 THEN E'\t\\N é ' || g END, md5(g::text)::uuid, g, g, 'a', g::text::bytea, to_timestamp(g) FROM generate_series(1, 5000) g`,
      'CREATE TABLE floats (f float8 PRIMARY KEY, n numeric UNIQUE, i interval UNIQUE)',
      "INSERT INTO floats VALUES (0, 1.0, '1 day'), (1, 2.00, '25 hours')",
      'CREATE TABLE expressed (id int PRIMARY KEY, t text)',
      'CREATE UNIQUE INDEX ON expressed ((id + 1))',
      "CREATE UNIQUE INDEX ON expressed (t) WHERE t <> ''",
      "INSERT INTO expressed VALUES (1, 'A'), (2, ''), (3, '')",
    ],
    quiet: ['keys', 'floats', 'expressed'],
  },
  {
    name: 'deep: a damaged page',
    verdict: 'blocked',
    reasons: ['damaged-storage'],
    quick: true,
    options,
    setup: [
      'CREATE TABLE damaged (a int PRIMARY KEY, b text)',
      "INSERT INTO damaged SELECT g, repeat('x', 500) FROM generate_series(1, 200) g",
    ],
    quiet: ['damaged'],
    before: async (source) => {
      await overwritePages(source, 'damaged', 'd1', { page: 3 });
      return {};
    },
  },
  {
    name: 'deep: lost chunks of a long value',
    verdict: 'blocked',
    reasons: ['damaged-storage'],
    options,
    setup: [
      'CREATE TABLE long (a int PRIMARY KEY, b text)',
      'ALTER TABLE long ALTER b SET STORAGE EXTERNAL',
      "INSERT INTO long SELECT g, repeat('x', 20000) FROM generate_series(1, 20) g",
    ],
    quiet: ['long'],
    before: async (source) => {
      await overwritePages(source, 'long', 'd1', { page: 4, pages: 4, byte: 0, isToast: true });
      return {};
    },
  },
  {
    name: 'deep: a text that is no UTF-8',
    verdict: 'blocked',
    reasons: ['invalid-bytes'],
    quick: true,
    options,
    setup: ['CREATE TABLE texts (id int PRIMARY KEY, t text)', ...asText('texts', '636166e9')],
    quiet: ['texts'],
  },
  {
    name: 'deep: a text that is no EUC_JP',
    verdict: 'blocked',
    reasons: ['invalid-bytes'],
    options,
    create: { d1: "ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0" },
    setup: ['CREATE TABLE texts (id int PRIMARY KEY, t text)', ...asText('texts', '8ea1a4a2ff')],
    quiet: ['texts'],
  },
  ...Object.entries({ SQL_ASCII: 'e9ff', LATIN1: 'e9ff', EUC_JP: '8ea1a4a28fb0a1' }).map(
    ([encoding, hex]): PostgresCase => ({
      name: `deep: valid bytes in ${encoding}`,
      pgcopydb: pgcopydbLimits.encoding,
      verdict: 'continuous',
      options,
      create: { d1: `ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0` },
      setup: ['CREATE TABLE texts (id int PRIMARY KEY, t text)', ...asText('texts', hex)],
      quiet: ['texts'],
    }),
  ),
  {
    name: 'deep: equal keys that a unique index does not contain',
    verdict: 'blocked',
    reasons: ['duplicate-keys'],
    quick: true,
    options,
    setup: [
      'CREATE TABLE twice (a int, b text, PRIMARY KEY (a, b))',
      ...withoutIndex('twice_pkey', "INSERT INTO twice SELECT g % 100, 'x' FROM generate_series(0, 150) g"),
    ],
    quiet: ['twice'],
  },
  {
    name: 'deep: a row that is longer than 1 GB as text',
    verdict: 'blocked',
    reasons: ['large-values'],
    options,
    setup: [
      'CREATE TABLE files (id int PRIMARY KEY, data bytea)',
      'ALTER TABLE files ALTER data SET STORAGE EXTERNAL',
      "INSERT INTO files VALUES (1, convert_to(repeat('x', 540000000), 'UTF8'))",
    ],
    quiet: ['files'],
  },
  {
    name: 'deep: a row that its foreign key did not see',
    pgcopydb: pgcopydbLimits.foreignKeys,
    verdict: 'continuous',
    options,
    to: 18,
    setup: [
      'CREATE TABLE p (id int PRIMARY KEY)',
      'CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p)',
      'INSERT INTO p VALUES (1)',
      'INSERT INTO c VALUES (1, 1)',
      'SET session_replication_role = replica; INSERT INTO c VALUES (2, 99)',
    ],
    quiet: ['p', 'c'],
    app: ['INSERT INTO c VALUES (3, 1)'],
  },
];
