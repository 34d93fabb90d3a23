import { countOf, formatBytes } from '../../../../base/text.ts';
import { firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeNumber, decodeText } from '../../../../postgresql/rows.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, incompleteScanOutcome, limitObjects, unlistedNote } from '../check.ts';
import type { UnreadTable } from '../deep/results.ts';
import { suggestLengthQueries } from '../owner-queries.ts';
import { featureCondition } from '../queries/database-overview.ts';
import {
  completeBySearch,
  decodeSearchedTable,
  filledTableSql,
  type PreliminaryResult,
  searchedTableSql,
} from '../queries/row-scan.ts';
import { largeValuesQuery, type WideTable, wideTablesQuery } from '../queries/tables.ts';
import type { PostgresqlQuery } from '../query.ts';

/** A column whose storage was changed, in a table with rows: older values keep the form in which they were stored. */
interface ChangedStorage extends PreliminaryResult {
  readonly table: string;
  readonly column: string;
  /** `PLAIN` if the whole row must fit into a page, else the index into which a value must fit. */
  readonly place: string;
  /** The most bytes of a value that fits. */
  readonly limit: number;
  readonly isBinary: boolean;
}

/** Bytes of a value in an entry of a btree, and in a row that can be neither compressed nor moved, with pages of 8 kB. */
const [indexEntryBytes, pageBytes] = [2704 - 12, 8160 - 28];

/**
 * EXTERNAL stores a value as it is: a btree contains it so. PLAIN leaves it in the row as well. A dump does not write the
 * default storage of a type, so a column that inherits gets the storage of its parent.
 */
const changedStorageQuery: PostgresqlQuery<readonly ChangedStorage[]> = {
  id: 'changed-storage',
  scope: 'database',
  when: featureCondition('storage'),
  sql: (version) => `
    SELECT
      c.oid::regclass AS name,
      quote_ident(a.attname) AS attname,
      coalesce(x.name, 'PLAIN') AS place,
      CASE WHEN x.name IS NULL THEN ${pageBytes} ELSE ${indexEntryBytes} END AS bytes,
      a.atttypid = '${typeOids.bytea}' AS binary_value,
      a.atttypid = '${typeOids.bytea}' OR t.typcategory = 'S' AS measurable,
      ${searchedTableSql(version)}
    FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid
    JOIN pg_type t ON t.oid = a.atttypid
    LEFT JOIN LATERAL (
      SELECT min(i.indexrelid::regclass::text) AS name
      FROM pg_index i
      JOIN pg_class n ON n.oid = i.indexrelid
      JOIN pg_am m ON m.oid = n.relam
      WHERE i.indrelid = c.oid AND m.amname = 'btree' AND a.attnum = ANY (i.indkey::int2[])
    ) x ON true
    CROSS JOIN LATERAL (
      SELECT coalesce(
        (
          SELECT p.attstorage
          FROM pg_inherits h
          JOIN pg_attribute p ON p.attrelid = h.inhparent AND p.attname = a.attname
          WHERE h.inhrelid = c.oid
            AND NOT c.relispartition
            AND a.attstorage = t.typstorage
            AND p.attstorage <> a.attstorage
          LIMIT 1
        ),
        a.attstorage
      ) AS storage
    ) s
    WHERE c.oid >= '${firstNormalOid}'
      AND c.relkind = 'r'
      AND a.attnum > 0
      AND a.attlen = -1
      AND NOT a.attisdropped
      AND s.storage IN ('e', 'p')
      AND t.typstorage IN ('x', 'm')
      AND (x.name IS NOT NULL OR s.storage = 'p')
      AND ${filledTableSql}
    ORDER BY 1, 2
  `,
  decode: (rows) =>
    rows.map((row) => {
      // Values of several columns share the place: the length of one does not tell whether they fit.
      const isAlone = rows.filter((one) => one.name === row.name && one.place === row.place).length === 1;
      return {
        table: decodeText(row, 'name'),
        column: decodeText(row, 'attname'),
        place: decodeText(row, 'place'),
        limit: decodeNumber(row, 'bytes'),
        isBinary: decodeBoolean(row, 'binary_value'),
        rows: 'unseen',
        searched: isAlone && decodeBoolean(row, 'measurable') ? decodeSearchedTable(row) : undefined,
      };
    }),
  searchRows: (found, search) =>
    completeBySearch(found, search, (row, { limit, isBinary }) => bytesOfField(row, isBinary) > limit),
  absent: [],
};

/** Bytes of the only value of a row in the text format of COPY: with escapes in a text, in hexadecimal digits of bytea. */
function bytesOfField(row: Uint8Array, isBinary: boolean): number {
  if (isBinary) return (row.byteLength - 4) / 2;
  let bytes = -1;
  // A backslash begins an escape of two bytes, also that of a backslash.
  for (let at = 0; at < row.byteLength; at += row[at] === 0x5c ? 2 : 1) bytes += 1;
  return bytes;
}

export const largeValuesCheck = declareDatabaseCheck({
  id: 'large-values',
  title: 'no row can be longer than 1 GB',
  headline: 'A row may be longer than 1 GB',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { large: largeValuesQuery, wide: wideTablesQuery, storage: changedStorageQuery },
  readsRows: true,
  evaluate({ large: suspected, wide, storage }, database, { scans }) {
    if (wide.length > 0) return wideRows(wide, database);
    const restored = storage.filter(({ rows }) => rows === 'violate' || rows === 'unseen');
    if (restored.length > 0) return storedOtherwise(restored, database);
    const scan = scans?.get(database);
    const tooLarge = scan?.unread.filter(({ reason }) => reason === 'row_too_large') ?? [];
    if (tooLarge.length > 0) return tooLargeRows(tooLarge, database);
    if (scan !== undefined && incompleteScanOutcome(scan) === undefined)
      return passOutcome(`no long row, the longest one has ${formatBytes(scan.longestRow?.bytes ?? 0)}`);
    const isUnread = (name: string) => scan?.unread.some(({ table }) => table === name) ?? true;
    const large = scan?.failure === undefined ? suspected.filter(({ table }) => isUnread(table)) : suspected;
    if (large.length === 0) return passOutcome('no long row, according to the sizes of TOAST tables');
    return {
      ...unknownOutcome(`${countOf(large.length, 'table')} with long values, and the rows were not read`),
      premise: 'no row is longer than 1 GB',
      settledBy: '--deep',
      required: 'rows shorter than 1 GB in text format, in which a bytea value needs two characters for each byte',
      detail: `A server cannot send a row of more than 1 GB, so the copy of such a row fails on every attempt: "invalid memory alloc request size", "out of memory … Cannot enlarge string buffer". The TOAST data of the listed tables is large enough for such a row, which does not prove that such a row exists.${suggestLengthQueries(large)}${unlistedNote(large)}`,
      objects: limitObjects(large).map(({ table, bytes }) => `${table} (${formatBytes(bytes)} of TOAST)`),
      fix: {
        database,
        by: 'the owner of the tables',
        text: `${splitValues} If no such row exists, use --accept large-values.`,
      },
    };
  },
});

const splitValues =
  'Before the migration, split values that make a row longer than 1 GB into several rows, or move them to files.';

function wideRows(tables: readonly WideTable[], database: string): CheckOutcome {
  const certain = tables.filter(({ isCertain }) => isCertain);
  const named = certain.length > 0 ? certain : tables;
  const observed = `${countOf(named.length, 'table')} with rows that are longer than a page`;
  const more = {
    headline: 'A row is longer than a page',
    required: 'rows that fit into a page of 8 kB without values that can be moved to TOAST',
    detail: `Columns that were added with a constant DEFAULT are not stored in older rows, but in every row of the target: "row is too big". The copy fails on every attempt.${unlistedNote(named)}`,
    objects: limitObjects(named).map(({ table, bytes }) => `${table} (${formatBytes(bytes)} and more)`),
    fix: {
      database,
      by: 'the owner of the tables',
      text: 'Split the table before the migration, or drop the DEFAULT and set the columns to NULL where they have its value.',
    },
  };
  return certain.length > 0
    ? failOutcome(['continuous', 'dump'], observed, more)
    : { ...unknownOutcome(observed), ...more, premise: 'every row of these tables fits into a page' };
}

function storedOtherwise(columns: readonly ChangedStorage[], database: string): CheckOutcome {
  const certain = columns.filter(({ rows }) => rows === 'violate');
  const named = certain.length > 0 ? certain : columns;
  const observed = `${countOf(named.length, 'column')} with values that SET STORAGE came after`;
  const more = {
    headline: 'A value does not fit into the target as its column stores it',
    required: 'values that fit without compression: 2,704 bytes in a btree, 8,160 in a row',
    detail: `Older values are still compressed; the target stores every value as the column says: "index row requires … bytes", "row is too big". The copy fails on every attempt.${unlistedNote(named)}`,
    objects: limitObjects(named).map(({ table, column, place }) => `${table} (${column}, ${place})`),
    fix: {
      database,
      by: 'the owner of the tables',
      text: 'Run ALTER TABLE … ALTER COLUMN … SET STORAGE EXTENDED, or drop the index until the cut-over.',
    },
  };
  return certain.length > 0
    ? failOutcome(['continuous', 'dump'], observed, more)
    : { ...unknownOutcome(observed), ...more, premise: 'every value of these columns fits without compression' };
}

function tooLargeRows(tables: readonly UnreadTable[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(tables.length, 'table')} with a row that is too long`, {
    headline: 'A row is longer than 1 GB',
    required: 'rows shorter than 1 GB in text format, in which a bytea value needs two characters for each byte',
    detail: `The server cannot send the row, and reading stopped there: there may be more. The copy fails on every attempt.${unlistedNote(tables)}`,
    objects: limitObjects(tables).map(({ table, message }) => `${table} (${message})`),
    fix: { database, by: 'the owner of the tables', text: splitValues },
  });
}
