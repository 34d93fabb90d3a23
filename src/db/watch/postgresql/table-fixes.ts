import { quoteServerReportedName } from '../quote-server-reported-name.ts';
import type { ReplicationStopCauseFix } from '../status-sample.ts';
import type { WatchedColumnDefinition, WatchedTableDefinition } from './server-facts.ts';

type TableName = Pick<WatchedTableDefinition, 'schema' | 'table'>;

/** Statements that make the table of the target like that of the source. undefined: they cannot be written safely. */
export function buildCreateTableOnTargetFix(
  table: WatchedTableDefinition,
  columns: readonly WatchedColumnDefinition[],
  subscription: string | undefined,
): ReplicationStopCauseFix | undefined {
  if (columns.length === 0 || !columns.every(({ type }) => isTypeName(type))) return undefined;
  const parts = columns.map(
    ({ name, type, notNull }) => `${quoteServerReportedName(name)} ${type}${notNull ? ' NOT NULL' : ''}`,
  );
  const key =
    table.keyColumns.length === 0 ? [] : [`PRIMARY KEY (${table.keyColumns.map(quoteServerReportedName).join(', ')})`];
  // Without REFRESH PUBLICATION, the subscription would not replicate the rows of the new table.
  const refresh =
    subscription === undefined
      ? ''
      : ` ALTER SUBSCRIPTION ${quoteServerReportedName(subscription)} REFRESH PUBLICATION;`;
  return {
    run_on: 'target',
    statement: `CREATE TABLE ${quoteTable(table)} (${[...parts, ...key].join(', ')});${refresh}`,
  };
}

export function buildDropTableOnTargetFix(table: TableName): ReplicationStopCauseFix {
  return { run_on: 'target', statement: `DROP TABLE ${quoteTable(table)};` };
}

export function buildAddColumnOnTargetFix(
  table: TableName,
  { name, type }: WatchedColumnDefinition,
): ReplicationStopCauseFix | undefined {
  return alterTarget(table, `ADD COLUMN ${quoteServerReportedName(name)} ${type}`, type);
}

export function buildDropColumnOnTargetFix(
  table: TableName,
  { name }: Pick<WatchedColumnDefinition, 'name'>,
): ReplicationStopCauseFix | undefined {
  return alterTarget(table, `DROP COLUMN ${quoteServerReportedName(name)}`);
}

export function buildChangeColumnTypeOnTargetFix(
  table: TableName,
  { name, type }: WatchedColumnDefinition,
): ReplicationStopCauseFix | undefined {
  const quoted = quoteServerReportedName(name);
  return alterTarget(table, `ALTER COLUMN ${quoted} TYPE ${type} USING ${quoted}::${type}`, type);
}

/**
 * Returns the statement that restores the former replica identity of a table. A key that was dropped cannot be added without
 * its name and options.
 */
export function buildRestoreReplicaIdentityFix(
  before: WatchedTableDefinition,
  after: WatchedTableDefinition,
): ReplicationStopCauseFix {
  const isBack = before.identity === 'd' && after.identity !== 'd' && after.hasReplicaIdentity;
  const identity = isBack || (before.identity === 'd' && after.identity === 'n') ? 'DEFAULT' : 'FULL';
  const hasLostKey = before.identity === 'd' && after.identity === 'd' && before.keyColumns.length > 0;
  const action = hasLostKey
    ? `ADD PRIMARY KEY (${before.keyColumns.map(quoteServerReportedName).join(', ')})`
    : `REPLICA IDENTITY ${identity}`;
  return { run_on: 'source', statement: `ALTER TABLE ${quoteTable(after)} ${action};` };
}

export function quoteTable({ schema, table }: TableName): string {
  return `${quoteServerReportedName(schema)}.${quoteServerReportedName(table)}`;
}

function alterTarget(table: TableName, action: string, type = 'integer'): ReplicationStopCauseFix | undefined {
  return isTypeName(type) ? { run_on: 'target', statement: `ALTER TABLE ${quoteTable(table)} ${action};` } : undefined;
}

/**
 * Whether the text consists of names, quoted names, and modifiers in parentheses or brackets. The text is checked,
 * because it comes from the source and becomes part of a statement for the target.
 */
function isTypeName(text: string): boolean {
  return /^(?:[\p{L}\p{N}_$. ]|"[^"\p{Cc}]+"|\([\p{L}\p{N}_, -]+\)|\[\])+$/u.test(text);
}
