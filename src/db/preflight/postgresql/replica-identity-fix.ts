import { countOf } from '../../../base/text.ts';
import { doStatement, quoteLiteral, requoteName } from '../../../postgresql/quote.ts';
import type { FindingFix, FixEffect } from '../finding.ts';
import type { IncomparableColumn, UnsafeIdentity } from './queries/replica-identities.ts';

/** Columns whose type has no equality operator, by table. */
export type IncomparableColumns = ReadonlyMap<string, readonly string[]>;

/**
 * Since PostgreSQL 18 an UPDATE of a published table fails on the source if its replica identity contains a generated
 * column. Before PostgreSQL 18 the UPDATE succeeds, and replication stops on the target if the generated column is in
 * the key.
 */
export const generatedIdentitySince = 180_000;

export function groupIncomparable(columns: readonly IncomparableColumn[]): IncomparableColumns {
  const byTable = new Map<string, string[]>();
  for (const { table, column } of columns) {
    const known = byTable.get(table);
    if (known === undefined) byTable.set(table, [column]);
    else known.push(column);
  }
  return byTable;
}

/** Why the replica identity of a table is not usable; undefined if it is usable. */
export function identityProblem(
  { identity, keyed, generated, generatedKey }: UnsafeIdentity,
  version: number,
): string | undefined {
  if (identity === 'n') return 'REPLICA IDENTITY NOTHING';
  if (identity === 'f' && version >= generatedIdentitySince && generated) return 'FULL with a generated column';
  if (generatedKey) return 'a generated column in the key';
  if (identity === 'f' || keyed) return undefined;
  return identity === 'i' ? 'REPLICA IDENTITY USING INDEX without that index' : 'no usable primary key';
}

/**
 * A replica identity that is usable for a table; undefined if the table needs a change of its columns or keys first.
 */
export function chooseIdentity(
  table: UnsafeIdentity,
  unequal: IncomparableColumns,
  version: number,
): string | undefined {
  if (table.primaryUsable && table.identity !== 'd') return 'DEFAULT';
  if (table.usableIndex !== undefined) return `USING INDEX ${requoteName(table.usableIndex)}`;
  const isSent = !(table.generatedKey || (version >= generatedIdentitySince && table.generated));
  return isSent && table.identity !== 'f' && !unequal.has(table.name) ? 'FULL' : undefined;
}

/** Statements for the tables that can have a usable replica identity; the text of the fix names the other tables. */
export function identityFix(
  tables: readonly UnsafeIdentity[],
  unequal: IncomparableColumns,
  database: string,
  version: number,
): FindingFix {
  // Only the SQL statements are stored, not an object for each table, because a database can have a hundred thousand
  // tables.
  const sql: string[] = [];
  const undo: string[] = [];
  const effects: FixEffect[] = [];
  const left: string[] = [];
  let full = 0;
  for (const table of tables) {
    const replacement = chooseIdentity(table, unequal, version);
    if (replacement === undefined) left.push(table.name);
    else {
      sql.push(identityStatement(table, replacement));
      effects.push(identityEffect(table, replacement));
      undo.push(identityStatement(table, identityClause(table)));
      if (replacement === 'FULL') full += 1;
    }
  }
  const sentences = [
    'A primary key is the best replica identity.',
    ...(sql.length === 0 ? [] : ['Each statement takes a short ACCESS EXCLUSIVE lock and does not rewrite the table.']),
    ...(full === 0 ? [] : [costOfFull(full)]),
    ...(left.length === 0 ? [] : [manualRemedy(left, version)]),
  ];
  return {
    sql,
    undo,
    effects,
    database,
    by: 'the owner of the tables, or a superuser',
    text: sentences.join(' '),
  };
}

export function identityStatement({ name }: UnsafeIdentity, identity: string): string {
  const statement = `ALTER TABLE ${requoteName(name)} REPLICA IDENTITY ${identity}`;
  const [, index] = /^USING INDEX "(.*)"$/s.exec(identity) ?? [];
  return index === undefined ? statement : withUnchangedIndex(name, index.replaceAll('""', '"'), statement);
}

/**
 * ALTER TABLE … REPLICA IDENTITY USING INDEX evaluates constant parts of the expressions of the index as the role that runs
 * it, and until then the owner of the table, its schema or its database can give the name of the index to another one.
 * Therefore a superuser first locks the rows of the index and of the schema in the catalogs, so that nobody can rename, move
 * or drop them. Every role requires an index without expressions; for one that is no superuser a moment is left in which the
 * owner can rename an index. PostgreSQL refuses an index of another table before it evaluates anything.
 */
function withUnchangedIndex(name: string, index: string, statement: string): string {
  const table = `pg_catalog.to_regclass(${quoteLiteral(requoteName(name))})`;
  const named = 'FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid';
  const isNamed = `i.indrelid = ${table} AND c.relname = ${quoteLiteral(index)}`;
  const isPlain = `SELECT ${named} WHERE i.indexrelid = found AND ${isNamed} AND i.indexprs IS NULL AND i.indpred IS NULL`;
  const message = quoteLiteral(`the index ${index} of ${name} has changed since the preflight`);
  const body = [
    `found := (SELECT i.indexrelid ${named} WHERE ${isNamed})`,
    "IF pg_catalog.current_setting('is_superuser') = 'on' THEN PERFORM FROM pg_catalog.pg_class WHERE oid = found FOR UPDATE",
    'PERFORM FROM pg_catalog.pg_namespace WHERE oid = (SELECT relnamespace FROM pg_catalog.pg_class WHERE oid = found) FOR UPDATE',
    'END IF',
    `IF NOT EXISTS (${isPlain}) THEN RAISE EXCEPTION USING MESSAGE = ${message}`,
    'END IF',
    statement,
  ];
  return doStatement(body.join('; '), 'DECLARE found pg_catalog.oid; ');
}

export function identityEffect({ name }: UnsafeIdentity, identity: string): FixEffect {
  return { kind: 'replica-identity', table: name, identity };
}

/**
 * The undo cannot set a dropped or unusable index again as the replica identity; a table without that index has the
 * identity NOTHING.
 */
export function identityClause({ identity, index }: UnsafeIdentity): string {
  if (identity === 'd') return 'DEFAULT';
  if (identity === 'f') return 'FULL';
  return identity === 'i' && index !== undefined ? `USING INDEX ${requoteName(index)}` : 'NOTHING';
}

function costOfFull(tables: number): string {
  return `${countOf(tables, 'table gets', 'tables get')} REPLICA IDENTITY FULL, for lack of a unique index over NOT NULL columns: every UPDATE and DELETE then writes the whole old row to the WAL, and the target searches for it row by row. A column added later whose type has no equality operator, such as json, stops the replication.`;
}

function manualRemedy(names: readonly string[], version: number): string {
  const listed = names.slice(0, 5).join(', ');
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  const generated = version >= generatedIdentitySince ? ', of columns that are not generated' : '';
  return `${listed}${more} need a primary key${generated} (or jsonb instead of json); otherwise exclude the database with --ignore-dbs.`;
}
