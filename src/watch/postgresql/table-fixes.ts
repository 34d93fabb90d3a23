import { quoteServerName } from '../quote-server-name.ts';
import type { CauseFix } from '../status-sample.ts';
import type { ColumnShape, WatchedTableDefinition } from './server-facts.ts';

type TableName = Pick<WatchedTableDefinition, 'schema' | 'table'>;

/** Statements that make the table of the target like that of the source. undefined: they cannot be written safely. */
export function createTableFix(
  table: WatchedTableDefinition,
  columns: readonly ColumnShape[],
  subscription: string | undefined,
): CauseFix | undefined {
  if (columns.length === 0 || !columns.every(({ type }) => isTypeName(type))) return undefined;
  const parts = columns.map(
    ({ name, type, notNull }) => `${quoteServerName(name)} ${type}${notNull ? ' NOT NULL' : ''}`,
  );
  const key =
    table.keyColumns.length === 0 ? [] : [`PRIMARY KEY (${table.keyColumns.map(quoteServerName).join(', ')})`];
  // Without the refresh its rows would be skipped.
  const refresh =
    subscription === undefined ? '' : ` ALTER SUBSCRIPTION ${quoteServerName(subscription)} REFRESH PUBLICATION;`;
  return {
    run_on: 'target',
    statement: `CREATE TABLE ${quoteTable(table)} (${[...parts, ...key].join(', ')});${refresh}`,
  };
}

export function dropTableFix(table: TableName): CauseFix {
  return { run_on: 'target', statement: `DROP TABLE ${quoteTable(table)};` };
}

export function addColumnFix(table: TableName, { name, type }: ColumnShape): CauseFix | undefined {
  return alterTarget(table, `ADD COLUMN ${quoteServerName(name)} ${type}`, type);
}

export function dropColumnFix(table: TableName, { name }: Pick<ColumnShape, 'name'>): CauseFix | undefined {
  return alterTarget(table, `DROP COLUMN ${quoteServerName(name)}`);
}

export function changeTypeFix(table: TableName, { name, type }: ColumnShape): CauseFix | undefined {
  const quoted = quoteServerName(name);
  return alterTarget(table, `ALTER COLUMN ${quoted} TYPE ${type} USING ${quoted}::${type}`, type);
}

/** Gives a table the replica identity back that it had; a key that was dropped cannot be added without its name and options. */
export function restoreIdentityFix(before: WatchedTableDefinition, after: WatchedTableDefinition): CauseFix {
  const isBack = before.identity === 'd' && after.identity !== 'd' && after.hasReplicaIdentity;
  const identity = isBack || (before.identity === 'd' && after.identity === 'n') ? 'DEFAULT' : 'FULL';
  const hasLostKey = before.identity === 'd' && after.identity === 'd' && before.keyColumns.length > 0;
  const action = hasLostKey
    ? `ADD PRIMARY KEY (${before.keyColumns.map(quoteServerName).join(', ')})`
    : `REPLICA IDENTITY ${identity}`;
  return { run_on: 'source', statement: `ALTER TABLE ${quoteTable(after)} ${action};` };
}

export function quoteTable({ schema, table }: TableName): string {
  return `${quoteServerName(schema)}.${quoteServerName(table)}`;
}

function alterTarget(table: TableName, action: string, type = 'integer'): CauseFix | undefined {
  return isTypeName(type) ? { run_on: 'target', statement: `ALTER TABLE ${quoteTable(table)} ${action};` } : undefined;
}

/** The text comes from the source and is printed for the target: names, quoted names, modifiers in parentheses and brackets. */
function isTypeName(text: string): boolean {
  return /^(?:[\p{L}\p{N}_$. ]|"[^"\p{Cc}]+"|\([\p{L}\p{N}_, -]+\)|\[\])+$/u.test(text);
}
