import type { Fix } from '../finding.ts';
import type { ColumnWithoutEquality, TableReplicaIdentity } from './queries/replica-identities.ts';
import { countText } from './units.ts';

/** Columns that rows cannot be compared by, by table. */
export type IncomparableColumns = ReadonlyMap<string, readonly string[]>;

/**
 * Since 18 an UPDATE of a published table fails on the source when its identity holds a generated column; before it the
 * target stops, and only when the column is in the key.
 */
export const generatedIdentityRejectedSince = 180_000;

export function incomparableColumnsByTable(columns: readonly ColumnWithoutEquality[]): IncomparableColumns {
  const byTable = new Map<string, string[]>();
  for (const { table, column } of columns) {
    const known = byTable.get(table);
    if (known === undefined) byTable.set(table, [column]);
    else known.push(column);
  }
  return byTable;
}

/** Why the identity of a table does not serve; undefined: it does. */
export function identityProblem(
  { identity, keyed, generated, generatedKey }: TableReplicaIdentity,
  version: number,
): string | undefined {
  if (identity === 'n') return 'REPLICA IDENTITY NOTHING';
  if (identity === 'f' && version >= generatedIdentityRejectedSince && generated) return 'FULL with a generated column';
  if (generatedKey) return 'a generated column in the key';
  if (identity === 'f' || keyed) return undefined;
  return identity === 'i' ? 'REPLICA IDENTITY USING INDEX without that index' : 'no usable primary key';
}

/** What gives a table an identity that serves; undefined: nothing that SQL could do without knowing the data. */
export function usableIdentity(
  table: TableReplicaIdentity,
  unequal: IncomparableColumns,
  version: number,
): string | undefined {
  if (table.primaryUsable && table.identity !== 'd') return 'DEFAULT';
  if (table.usableIndex !== undefined) return `USING INDEX ${table.usableIndex}`;
  const isSent = !(table.generatedKey || (version >= generatedIdentityRejectedSince && table.generated));
  return isSent && table.identity !== 'f' && !unequal.has(table.name) ? 'FULL' : undefined;
}

/** Statements for those that have a cure; the others are named in words. */
export function identityFix(
  tables: readonly TableReplicaIdentity[],
  unequal: IncomparableColumns,
  database: string,
  version: number,
): Fix {
  // There may be a hundred thousand of them, so nothing is kept beside the statements.
  const sql: string[] = [];
  const undo: string[] = [];
  const left: string[] = [];
  let full = 0;
  for (const table of tables) {
    const cure = usableIdentity(table, unequal, version);
    if (cure === undefined) left.push(table.name);
    else {
      sql.push(identityStatement(table, cure));
      undo.push(identityStatement(table, currentIdentity(table)));
      if (cure === 'FULL') full += 1;
    }
  }
  const words = [
    'A primary key is the best cure.',
    ...(sql.length === 0 ? [] : ['Each statement of the script takes a short exclusive lock and rewrites nothing.']),
    ...(full === 0 ? [] : [costOfFull(full)]),
    ...(left.length === 0 ? [] : [manualRemedy(left, version)]),
  ];
  return {
    sql,
    undo,
    database,
    by: 'the owner of the tables, or a superuser',
    text: words.join(' '),
  };
}

export function identityStatement({ name }: TableReplicaIdentity, identity: string): string {
  return `ALTER TABLE ${name} REPLICA IDENTITY ${identity}`;
}

/** An index that is gone, or does not serve, cannot be named again: without it the table has the identity NOTHING. */
export function currentIdentity({ identity, index }: TableReplicaIdentity): string {
  if (identity === 'd') return 'DEFAULT';
  if (identity === 'f') return 'FULL';
  return identity === 'i' && index !== undefined ? `USING INDEX ${index}` : 'NOTHING';
}

function costOfFull(tables: number): string {
  return `${countText(tables, 'table')} without a unique index over NOT NULL columns ${tables === 1 ? 'gets' : 'get'} FULL: every UPDATE and DELETE then writes the whole old row to the WAL, and the target looks for it row by row. A column added later whose type has no equality operator, such as json, would stop it.`;
}

function manualRemedy(names: readonly string[], version: number): string {
  const listed = names.slice(0, 5).join(', ');
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  const generated = version >= generatedIdentityRejectedSince ? ', of columns that are not generated' : '';
  return `No statement that leaves the data alone helps ${listed}${more}: a primary key is needed there${generated} (or jsonb in the place of json), or leave the database out with ignore_dbs.`;
}
