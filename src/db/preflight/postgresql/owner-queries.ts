import { singleLineSql } from '../../../postgresql/psql-script.ts';
import { quoteIdentifier, requoteName } from '../../../postgresql/quote.ts';
import { type FindingFix, removalEffect } from '../finding.ts';
import type { PreflightQuery } from '../query.ts';
import { limitObjects } from './check.ts';
import type { DuplicateKeys, OrphanedRows } from './deep/results.ts';
import type { NamedConstraint } from './queries/constraints.ts';
import type { StoredExpression } from './queries/stored-expressions.ts';
import { type LargeTable, maxRowBytes } from './queries/tables.ts';

/** The beginning of a statement that alters the constraint: `ALTER TABLE public.t`, or `ALTER DOMAIN public.d`. */
export function alterPrefix({ owner, ofDomain }: Pick<NamedConstraint, 'owner' | 'ofDomain'>): string {
  return `ALTER ${ofDomain ? 'DOMAIN' : 'TABLE'} ${requoteName(owner)}`;
}

export function dropConstraintSql(constraint: Omit<NamedConstraint, 'definition'>): string {
  return `${alterPrefix(constraint)} DROP CONSTRAINT IF EXISTS ${requoteName(constraint.name)}`;
}

/**
 * Adds the constraint as NOT VALID, so that existing rows are not checked. The statement is for review, because it
 * contains an expression of the source.
 */
export function addConstraintSql(constraint: NamedConstraint): string {
  const definition = constraint.definition.replace(/ NOT VALID$/, '');
  return `${alterPrefix(constraint)} ADD CONSTRAINT ${requoteName(constraint.name)} ${definition} NOT VALID`;
}

/** Drops the constraints until the cut-over. The undo is for review, because it contains expressions of the source. */
export function dropConstraintsFix<T extends NamedConstraint>(
  query: PreflightQuery<readonly T[]>,
  found: readonly T[],
  database: string,
  text: string,
): FindingFix {
  return {
    sql: found.map(dropConstraintSql),
    undoReview: found.map(addConstraintSql),
    effects: [removalEffect(query, found)],
    database,
    by: 'the owner of the tables, or a superuser',
    text,
  };
}

/** Puts the name in double quotes, as error messages of PostgreSQL do. */
export function quoteName(name: string): string {
  return name.startsWith('"') ? name : `"${name}"`;
}

/**
 * As on the target; with the path of the session, an operator in the queries could be one that another user has put before
 * that of PostgreSQL.
 */
const emptyPath = "SET search_path = '';";

/**
 * A sentence with queries that the owner of the tables can run, to see the values of columns that preflight did not
 * read.
 */
export function suggestValueQueries(columns: readonly { readonly table: string; readonly column: string }[]): string {
  const queries = limitObjects(columns).map(
    ({ table, column }) => `SELECT DISTINCT ${requoteName(column)}::pg_catalog.text FROM ONLY ${requoteName(table)}`,
  );
  return ` The owner of the tables can run: ${emptyPath} ${queries.join('; ')}.`;
}

/**
 * A sentence with the statement `setting`, if there is one, and the queries that show whether rows violate the constraints; empty if all
 * constraints belong to domains.
 */
export function suggestConstraintQueries(constraints: readonly NamedConstraint[], setting?: string): string {
  const queries = constraints.flatMap((one) => violatedByRowQuery(one) ?? []);
  return queries.length === 0
    ? ''
    : ` The preflight does not evaluate expressions of users. The owner of the tables can run: ${emptyPath} ${[...(setting === undefined ? [] : [setting]), ...limitObjects(queries)].join('; ')}.`;
}

/**
 * A query for the owner of a table: it shows whether a row violates a CHECK constraint. Preflight does not run this
 * query, because the expression may call functions of users. undefined for a constraint of a domain, which can be used
 * in many columns, or for text that cannot be pasted into psql.
 */
function violatedByRowQuery({ owner, ofDomain, definition }: Omit<NamedConstraint, 'name'>): string | undefined {
  const expression = /^CHECK \((.*)\)(?: NO INHERIT)?(?: NOT VALID)?$/s.exec(definition)?.[1];
  if (ofDomain || expression === undefined) return undefined;
  return singleLineSql(`SELECT EXISTS (SELECT FROM ONLY ${requoteName(owner)} WHERE NOT (${expression}))`)?.slice(
    0,
    -1,
  );
}

/**
 * Describes, with SQL queries, how the owner can count the rows of more than 1 GB. octet_length reads only the stored
 * length of a bytea or text value; for other types it reads the whole value.
 */
export function suggestLengthQueries(large: readonly LargeTable[]): string {
  const queries = limitObjects(large).flatMap(({ table, binaries, texts }) => {
    const lengths = [
      ...binaries.map((name) => `2 * octet_length(${requoteName(name)})::bigint`),
      ...texts.map((name) => `octet_length(${requoteName(name)}::text)::bigint`),
    ];
    const sum = lengths.map((length) => `coalesce(${length}, 0)`).join(' + ');
    return singleLineSql(`SELECT count(*) FROM ONLY ${requoteName(table)} WHERE ${sum} >= ${maxRowBytes}`) ?? [];
  });
  return queries.length === 0 ? '' : ` The owner of the tables can run: ${emptyPath} ${queries.join(' ')}`;
}

/**
 * Returns a sentence with the queries that list the equal keys. The queries must not use an index, because an index may
 * lack rows.
 */
export function suggestDuplicateQueries(duplicates: readonly DuplicateKeys[]): string {
  const queries = limitObjects(duplicates).flatMap(({ table, columns }) => {
    const key = columns.map(quoteIdentifier).join(', ');
    return (
      singleLineSql(`SELECT ${key}, count(*) FROM ONLY ${requoteName(table)} GROUP BY ${key} HAVING count(*) > 1`) ?? []
    );
  });
  if (queries.length === 0) return '';
  const settings = ['indexscan', 'indexonlyscan', 'bitmapscan'].map((name) => `SET enable_${name} = off;`);
  return ` Their owner can run: ${[emptyPath, ...settings, ...queries].join(' ')}`;
}

/**
 * A sentence with one query for each expression: it counts the rows that violate the constraint, or returns a checksum
 * of the generated values that must be the same on both servers; empty if there is no query that can be pasted into psql.
 */
export function suggestExpressionQueries(expressions: readonly StoredExpression[]): string {
  const queries = limitObjects(expressions).flatMap((expression) =>
    expression.tables.flatMap((table, at) => {
      const sql = comparisonQuery(expression, requoteName(table), expression.columns[at]);
      return sql === undefined ? [] : (singleLineSql(sql) ?? []);
    }),
  );
  return queries.length === 0
    ? ''
    : ` The preflight does not evaluate expressions of users. The owner of the tables can run: ${emptyPath} ${limitObjects(queries).join(' ')}`;
}

/** OFFSET 0 keeps the planner from reading values out of an index, which may hold old ones. */

function comparisonQuery(expression: StoredExpression, table: string, column: string | undefined): string | undefined {
  const { kind, texts, predicate, operators, key } = expression;
  const where = predicate === '' ? '' : ` WHERE ${predicate}`;
  const rows = `(SELECT * FROM ONLY ${table} OFFSET 0) ${quoteIdentifier(baseName(table))}`;
  const [text = ''] = texts;
  switch (kind) {
    case 'check':
      return `SELECT count(*) FROM ${rows} WHERE NOT (${text})`;
    case 'domain':
      return column === undefined
        ? undefined
        : `SELECT count(*) FROM (SELECT ${quoteIdentifier(column)} AS value FROM ONLY ${table}) v WHERE NOT (${text})`;
    case 'generated': {
      if (column === undefined) return undefined;
      const value = `${quoteIdentifier(column)}::text`;
      const order = key.length === 0 ? [value] : key.map((one) => `${quoteIdentifier(one)}::text`);
      return `SELECT md5(string_agg(coalesce(md5(${value}), ''), ',' ORDER BY ${order.map((one) => `${one} COLLATE pg_catalog."C"`).join(', ')})) FROM ONLY ${table}`;
    }
    case 'unique': {
      const keys = texts.map((one) => `(${one})`);
      const present = expression.isNullEqual ? [] : keys.map((one) => `${one} IS NOT NULL`);
      const conditions = [...(predicate === '' ? [] : [`(${predicate})`]), ...present].join(' AND ');
      if (!expression.isComparable) return undefined;
      return `SELECT count(*) FROM (SELECT FROM ${rows}${conditions === '' ? '' : ` WHERE ${conditions}`} GROUP BY ${keys.join(', ')} HAVING count(*) > 1) d`;
    }
    case 'exclusion': {
      const keys = texts.map((one, at) => `(${one}) AS k${at}`).join(', ');
      const numbered = `(SELECT row_number() OVER () AS n, ${keys} FROM ${rows}${where})`;
      const conflicts = operators.map((operator, at) => `a.k${at} ${operator} b.k${at}`).join(' AND ');
      return operators.length !== texts.length
        ? undefined
        : `WITH r AS ${numbered} SELECT count(*) FROM r a JOIN r b ON a.n < b.n AND ${conflicts}`;
    }
    case 'partition':
      // The key has the names of operator classes that are not the default.
      if (!expression.isComparable) return undefined;
      return `SELECT tableoid::pg_catalog.regclass, ${text}, count(*) FROM ${table} GROUP BY 1, 2 ORDER BY 1, 2`;
    case 'index':
      return `SELECT count(ROW(${texts.join(', ')})) FROM ${rows}${where}`;
  }
}

/** The last part of a quoted name, not quoted: expressions refer to the row of their table by it. */
function baseName(table: string): string {
  const [last = table] = /(?:[^".]+|"(?:[^"]|"")*")$/.exec(table) ?? [];
  return last.startsWith('"') ? last.slice(1, -1).replaceAll('""', '"') : last;
}

/** A sentence with the queries that list the rows whose foreign key references no row. */
export function suggestOrphanQueries(orphans: readonly OrphanedRows[]): string {
  const queries = limitObjects(orphans).flatMap(({ table, parent, columns, parentColumns }) => {
    const pairs = columns.map(
      (name, at) => `p.${quoteIdentifier(parentColumns[at] ?? '')} = c.${quoteIdentifier(name)}`,
    );
    const given = columns.map((name) => `c.${quoteIdentifier(name)} IS NOT NULL`);
    return (
      singleLineSql(
        `SELECT * FROM ONLY ${requoteName(table)} c WHERE ${given.join(' AND ')} AND NOT EXISTS (SELECT FROM ${requoteName(parent)} p WHERE ${pairs.join(' AND ')})`,
      ) ?? []
    );
  });
  return queries.length === 0 ? '' : ` Their owner can run: ${emptyPath} ${queries.join(' ')}`;
}

/**
 * A sentence with the queries that count rows which are equal in all columns and not the same: 1.0 and 1.00. A cast of the row
 * to text would be that of a user, or the column `t`.
 */
export function suggestQueriesForSimilarRows(tables: readonly string[]): string {
  const queries = limitObjects(tables).flatMap(
    (table) =>
      singleLineSql(
        `SELECT count(*) FROM (SELECT FROM ${requoteName(table)} t GROUP BY t.* HAVING count(DISTINCT pg_catalog.record_out(t.*)::pg_catalog.text) > 1) q`,
      ) ?? [],
  );
  return queries.length === 0 ? '' : ` Their owner can run: ${emptyPath} ${queries.join(' ')}`;
}
