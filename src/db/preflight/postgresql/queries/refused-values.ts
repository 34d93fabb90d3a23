import { firstNormalOid, malformedTypes } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean, decodeText, type PostgresqlRow } from '../../../../postgresql/rows.ts';
import { splitTextRow } from '../../../../postgresql/table-rows.ts';
import type { PostgresqlQuery } from '../query.ts';
import { featureCondition } from './database-overview.ts';
import {
  completeBySearch,
  decodeNestedColumn,
  decodeSearchedTable,
  type NestedColumn,
  nestedColumnsSql,
  type PreliminaryResult,
  valuesInside,
} from './row-scan.ts';

/** A column whose rows may have a value that can be stored, and that the input function of its type refuses. */
export interface RefusedColumn extends PreliminaryResult, NestedColumn {
  /** Not quoted. */
  readonly rawColumn: string;
  /** Whether the value is certainly refused: the CHECK constraint of a domain may accept NULL. */
  readonly isCertain: boolean;
}

/**
 * Domains that may refuse NULL. The expression of a CHECK constraint is not evaluated; one without IS NOT NULL and
 * COALESCE hardly refuses NULL.
 */
const refusingDomainsSql = `
  SELECT oid
  FROM (
    WITH RECURSIVE d (oid) AS (
      SELECT t.oid
      FROM pg_type t
      WHERE t.typtype = 'd'
        AND t.oid >= '${firstNormalOid}'
        AND (
          t.typnotnull
            OR EXISTS (
              SELECT FROM pg_constraint k
              WHERE k.contypid = t.oid
                AND k.contype = 'c'
                AND k.conbin::text ~ ':nulltesttype 1|:boolop not :args [(][{]NULLTEST|COALESCE'
            )
        )
      UNION
      SELECT t.oid FROM d JOIN pg_type t ON t.typbasetype = d.oid
    )
    SELECT oid FROM d
  ) r
`;

/** SQL condition: the domain `v.type`, or one that it is based on, refuses NULL. */
const certainlyRefusesSql = `
  EXISTS (
    WITH RECURSIVE b (oid) AS (
      SELECT v.type
      UNION ALL
      SELECT t.typbasetype FROM b JOIN pg_type t ON t.oid = b.oid WHERE t.typtype = 'd'
    )
    SELECT FROM b
    JOIN pg_type t ON t.oid = b.oid
    LEFT JOIN pg_constraint k ON k.contypid = t.oid AND k.contype = 'c'
    WHERE t.typtype = 'd'
      AND (
        t.typnotnull
          OR (
            pg_get_constraintdef(k.oid) ~ '^CHECK [(]+VALUE IS NOT NULL[)]+( AND |$)'
              AND pg_get_constraintdef(k.oid) !~ ' OR '
          )
      )
  )
`;

/**
 * Columns that may contain NULL in a domain that refuses it: PostgreSQL does not check the result of a subquery, an
 * outer join, a window function or an assignment to an element. A NULL column that is itself NOT NULL is not possible.
 */
export const refusedNullsQuery: PostgresqlQuery<readonly RefusedColumn[]> = {
  id: 'refused-nulls',
  scope: 'database',
  when: featureCondition('domains'),
  sql: (version) =>
    nestedColumnsSql(version, refusingDomainsSql, [`${certainlyRefusesSql} AS certain`, 'a.attnotnull AS not_null']),
  decode: (rows) =>
    rows
      .filter((row) => !(decodeBoolean(row, 'not_null') && decodeText(row, 'path') === ''))
      .map((row) => decodeRefused(row, decodeBoolean(row, 'certain'))),
  searchRows: searchRefused,
  absent: [],
};

/**
 * Columns of types whose functions write what their input functions refuse. In an encoding of one byte for each
 * character every "char" is valid.
 */
export const malformedValuesQuery: PostgresqlQuery<readonly RefusedColumn[]> = {
  id: 'malformed-values',
  scope: 'database',
  when: featureCondition('malformed-values'),
  sql: (version) =>
    nestedColumnsSql(version, malformedTypes(version), [
      'pg_encoding_max_length(pg_char_to_encoding(getdatabaseencoding())) > 1 AS multibyte',
    ]),
  decode: (rows) =>
    rows
      .map((row) => ({ one: decodeRefused(row, true), isMultibyte: decodeBoolean(row, 'multibyte') }))
      .flatMap(({ one, isMultibyte }) => (one.type.startsWith('"char"') && !isMultibyte ? [] : [one])),
  searchRows: searchRefused,
  absent: [],
};

function decodeRefused(row: PostgresqlRow, isCertain: boolean): RefusedColumn {
  return {
    ...decodeNestedColumn(row),
    rawColumn: decodeText(row, 'raw_column'),
    isCertain,
    rows: 'unseen',
    searched: decodeSearchedTable(row),
  };
}

function searchRefused(
  found: readonly RefusedColumn[],
  search: Parameters<typeof completeBySearch>[1],
): Promise<readonly RefusedColumn[]> {
  return completeBySearch(found, search, (row, column) => splitTextRow(row).some((field) => isRefused(field, column)));
}

/** Whether a field in the text format of COPY, without its escapes, contains a value that is refused. */
export function isRefused(field: string | null, column: Pick<NestedColumn, 'path' | 'type'>): boolean {
  const isMalformed = malformed[firstWord(column.type)];
  return valuesInside(field, column).some((value) =>
    isMalformed === undefined ? value === null : value !== null && isMalformed(value),
  );
}

/** The name of a type of PostgreSQL, which may have several words, without the brackets of an array. */
export function firstWord(type: string): string {
  return type.replace(/ .*|\[\]/g, '');
}

/** By the first word of the type; the other types are domains that refuse NULL, whose names have a schema. */
const malformed: Readonly<Record<string, (value: string) => boolean>> = {
  // XML has no control characters but tab and line ends.
  xml: (value) => /[\x01-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(value) || depthOfXml(value) > deepestXml,
  circle: (value) => Number(/,([^,]*)>$/.exec(value)?.[1]) < 0,
  time: (value) => Number(/[+-](\d+)/.exec(value)?.[1]) > 15,
  // A quotation mark in a lexeme is doubled.
  tsvector: (value) => value.match(/'(?:[^']|'')*'/g)?.includes("''") ?? false,
  // A byte above 127 is no character of an encoding with several bytes.
  '"char"': (value) => value.charCodeAt(0) > 127,
};

/** The depth of elements that libxml2 reads without XML_PARSE_HUGE. */
const deepestXml = 256;

/** Reads the text once, because the text is of others. It was written by the server, so its tags are balanced. */
function depthOfXml(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const skipped = skippedInXml.find(([start]) => text.startsWith(start, at));
    if (skipped !== undefined) {
      const end = text.indexOf(skipped[1], at + skipped[0].length);
      if (end < 0) return deepest;
      at = end;
      continue;
    }
    const isEnd = text[at + 1] === '/';
    const end = endOfTag(text, at);
    if (isEnd) depth -= 1;
    else if (text[at + 1] !== '!') {
      deepest = Math.max(deepest, depth + 1);
      if (text[end - 1] !== '/') depth += 1;
    }
    at = end;
  }
  return deepest;
}

const skippedInXml = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const;

/** A value of an attribute may contain `>`. */
function endOfTag(text: string, start: number): number {
  let quote = '';
  for (let at = start; at < text.length; at += 1) {
    const character = text[at]!;
    if (quote === '' && character === '>') return at;
    if (character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) quote = character;
  }
  return text.length;
}
