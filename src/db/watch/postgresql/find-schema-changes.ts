import type { ReplicationStopCauseFix } from '../status-sample.ts';
import type { PostgresqlWatchRuleDatabase } from './rule-input.ts';
import type { WatchedColumnDefinition, WatchedTableDefinition } from './server-facts.ts';
import {
  buildAddColumnOnTargetFix,
  buildChangeColumnTypeOnTargetFix,
  buildCreateTableOnTargetFix,
  buildDropColumnOnTargetFix,
  buildDropTableOnTargetFix,
  buildRestoreReplicaIdentityFix,
} from './table-fixes.ts';
import { findTablesChangedSinceFirstPoll, isSameReplicaIdentity } from './track-table-definition-changes.ts';

/** A table of the source whose definition has changed since the start of the migration. DDL is not replicated. */
export interface SchemaChange {
  readonly rule: WatchedSchemaChangeKind;
  /** `schema.table`. */
  readonly table: string;
  /** The changed object: the table, or a column as `schema.table.column`. */
  readonly object: string;
  /** The statement that fixes the change; undefined if the system catalogs do not show enough to write it. */
  readonly fix: ReplicationStopCauseFix | undefined;
}

export type WatchedSchemaChangeKind =
  | 'table-new'
  | 'table-dropped'
  | 'column-added'
  | 'column-dropped'
  | 'column-type-changed'
  | 'schema-changed'
  | 'replica-identity-removed'
  | 'replica-identity-changed';

/** Finds the schema changes. Changes of tables with writes that the target has not confirmed come first. */
export function findSchemaChanges(database: PostgresqlWatchRuleDatabase): readonly SchemaChange[] {
  const { shapes, pendingTables } = database;
  if (shapes === undefined) return [];
  const found = findTablesChangedSinceFirstPoll(shapes).flatMap((name) => changesOf(name, database));
  const isPending = ({ table }: SchemaChange) => pendingTables.includes(table);
  return [...found.filter(isPending), ...found.filter((change) => !isPending(change))];
}

function changesOf(table: string, { shapes, subscription }: PostgresqlWatchRuleDatabase): readonly SchemaChange[] {
  const [before, after] = [shapes?.first.get(table), shapes?.now.get(table)];
  const columns = shapes?.columnsNow.get(table);
  if (after === undefined)
    return before === undefined
      ? []
      : [{ rule: 'table-dropped', table, object: table, fix: buildDropTableOnTargetFix(before) }];
  if (before === undefined)
    return [
      { rule: 'table-new', table, object: table, fix: buildCreateTableOnTargetFix(after, columns ?? [], subscription) },
    ];
  return [
    ...(before.columns === after.columns ? [] : columnChanges(table, after, shapes?.columnsBefore.get(table), columns)),
    ...(isSameReplicaIdentity(before, after) ? [] : [identityChange(table, before, after)]),
  ];
}

function columnChanges(
  table: string,
  shape: WatchedTableDefinition,
  before: readonly WatchedColumnDefinition[] | undefined,
  after: readonly WatchedColumnDefinition[] | undefined,
): readonly SchemaChange[] {
  const other: SchemaChange = { rule: 'schema-changed', table, object: table, fix: undefined };
  if (before === undefined || after === undefined) return [other];
  const change = (
    rule: WatchedSchemaChangeKind,
    column: WatchedColumnDefinition,
    fix: ReplicationStopCauseFix | undefined,
  ): SchemaChange => ({
    rule,
    table,
    object: `${table}.${column.name}`,
    fix,
  });
  const named = (columns: readonly WatchedColumnDefinition[], name: string) => columns.find((one) => one.name === name);
  const found = [
    ...after
      .filter(({ name }) => named(before, name) === undefined)
      .map((column) => change('column-added', column, buildAddColumnOnTargetFix(shape, column))),
    ...after
      .filter(({ name, type }) => (named(before, name)?.type ?? type) !== type)
      .map((column) => change('column-type-changed', column, buildChangeColumnTypeOnTargetFix(shape, column))),
    ...before
      .filter(({ name }) => named(after, name) === undefined)
      .map((column) => change('column-dropped', column, buildDropColumnOnTargetFix(shape, column))),
  ];
  return found.length === 0 ? [other] : found;
}

function identityChange(table: string, before: WatchedTableDefinition, after: WatchedTableDefinition): SchemaChange {
  const isRemoved = before.hasReplicaIdentity && !after.hasReplicaIdentity;
  return {
    rule: isRemoved ? 'replica-identity-removed' : 'replica-identity-changed',
    table,
    object: table,
    fix: buildRestoreReplicaIdentityFix(before, after),
  };
}
