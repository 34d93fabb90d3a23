import { type CauseFix, quoteReported, type Violation } from '../sample.ts';
import type { ColumnDefinition, TableDefinition } from './facts.ts';
import type { RuleDatabase, WatchRule } from './rule.ts';
import { changedTables, isSameIdentity } from './tables.ts';

/** DDL is not replicated, so the target fails on the first row that needs the changed table definition. */
export const schemaRule: WatchRule = ({ databases }) =>
  databases.flatMap((database) => {
    const changes = findSchemaChanges(database);
    return [...new Set(changes.map(({ rule }) => rule))].map((rule) =>
      schemaViolation(
        database.name,
        changes.filter((change) => change.rule === rule),
      ),
    );
  });

/**
 * Combines all changes that violate the same rule into one violation, with the object and the fix statement of the first
 * change.
 * @param changes at least one
 */
export function schemaViolation(database: string, changes: readonly SchemaChange[]): Violation {
  const [first] = changes as readonly [SchemaChange, ...SchemaChange[]];
  const names = changes.slice(0, 5).map(({ object }) => object);
  const more = changes.length > names.length ? ` and ${changes.length - names.length} more` : '';
  const { what, hint } = texts[first.rule];
  return {
    rule: first.rule,
    database,
    object: first.object,
    observed: `${names.join(', ')}${more} ${changes.length === 1 ? 'was' : 'were'} ${what}`,
    hint,
    ...(first.fix === undefined ? {} : { fix: first.fix }),
  };
}

const texts: Readonly<Record<WatchedSchemaChangeKind, { readonly what: string; readonly hint: string }>> = {
  'table-new': {
    what: 'created since the start',
    hint: 'create the table on the target with the same columns, then refresh the subscription: replication fails on its first row',
  },
  'table-dropped': { what: 'dropped since the start', hint: 'drop the table on the target, too' },
  'column-added': {
    what: 'added since the start',
    hint: 'add the column on the target: replication fails on the next row of the table',
  },
  'column-dropped': {
    what: 'dropped since the start',
    hint: 'drop the column on the target: replication fails if it is NOT NULL there',
  },
  'column-type-changed': {
    what: 'given another type since the start',
    hint: 'change the type on the target: replication fails on a value that the old type does not accept',
  },
  'schema-changed': {
    what: 'altered since the start',
    hint: 'make the same change on the target: replication fails on rows with other columns',
  },
  'replica-identity-removed': {
    what: 'left without a replica identity since the start',
    hint: 'restore the primary key or the replica identity: UPDATE and DELETE of the application fail now',
  },
  'replica-identity-changed': {
    what: 'given another key or replica identity since the start',
    hint: 'make the same change on the target, or undo it',
  },
};

/** A table of the source whose definition has changed since the start of the migration. DDL is not replicated. */
interface SchemaChange {
  readonly rule: WatchedSchemaChangeKind;
  /** `schema.table`. */
  readonly table: string;
  /** The changed object: the table, or a column as `schema.table.column`. */
  readonly object: string;
  /** The statement that fixes the change; undefined if the system catalogs do not show enough to write it. */
  readonly fix: CauseFix | undefined;
}

type WatchedSchemaChangeKind =
  | 'table-new'
  | 'table-dropped'
  | 'column-added'
  | 'column-dropped'
  | 'column-type-changed'
  | 'schema-changed'
  | 'replica-identity-removed'
  | 'replica-identity-changed';

/** Finds the schema changes. Changes of tables with writes that the target has not confirmed come first. */
export function findSchemaChanges(database: RuleDatabase): readonly SchemaChange[] {
  const { shapes, pendingTables } = database;
  if (shapes === undefined) return [];
  const found = changedTables(shapes).flatMap((name) => changesOf(name, database));
  const isPending = ({ table }: SchemaChange) => pendingTables.includes(table);
  return [...found.filter(isPending), ...found.filter((change) => !isPending(change))];
}

function changesOf(table: string, { shapes, subscription }: RuleDatabase): readonly SchemaChange[] {
  const [before, after] = [shapes?.first.get(table), shapes?.now.get(table)];
  const columns = shapes?.columnsNow.get(table);
  if (after === undefined)
    return before === undefined ? [] : [{ rule: 'table-dropped', table, object: table, fix: dropTableFix(before) }];
  if (before === undefined)
    return [{ rule: 'table-new', table, object: table, fix: createTableFix(after, columns ?? [], subscription) }];
  return [
    ...(before.columns === after.columns ? [] : columnChanges(table, after, shapes?.columnsBefore.get(table), columns)),
    ...(isSameIdentity(before, after) ? [] : [identityChange(table, before, after)]),
  ];
}

function columnChanges(
  table: string,
  shape: TableDefinition,
  before: readonly ColumnDefinition[] | undefined,
  after: readonly ColumnDefinition[] | undefined,
): readonly SchemaChange[] {
  const other: SchemaChange = { rule: 'schema-changed', table, object: table, fix: undefined };
  if (before === undefined || after === undefined) return [other];
  const change = (
    rule: WatchedSchemaChangeKind,
    column: ColumnDefinition,
    fix: CauseFix | undefined,
  ): SchemaChange => ({
    rule,
    table,
    object: `${table}.${column.name}`,
    fix,
  });
  const named = (columns: readonly ColumnDefinition[], name: string) => columns.find((one) => one.name === name);
  const found = [
    ...after
      .filter(({ name }) => named(before, name) === undefined)
      .map((column) => change('column-added', column, addColumnFix(shape, column))),
    ...after
      .filter(({ name, type }) => (named(before, name)?.type ?? type) !== type)
      .map((column) => change('column-type-changed', column, columnTypeFix(shape, column))),
    ...before
      .filter(({ name }) => named(after, name) === undefined)
      .map((column) => change('column-dropped', column, dropColumnFix(shape, column))),
  ];
  return found.length === 0 ? [other] : found;
}

function identityChange(table: string, before: TableDefinition, after: TableDefinition): SchemaChange {
  const isRemoved = before.hasReplicaIdentity && !after.hasReplicaIdentity;
  return {
    rule: isRemoved ? 'replica-identity-removed' : 'replica-identity-changed',
    table,
    object: table,
    fix: identityFix(before, after),
  };
}

type TableName = Pick<TableDefinition, 'schema' | 'table'>;

/** Statements that make the table of the target like that of the source. undefined: they cannot be written safely. */
export function createTableFix(
  table: TableDefinition,
  columns: readonly ColumnDefinition[],
  subscription: string | undefined,
): CauseFix | undefined {
  if (columns.length === 0 || !columns.every(({ type }) => isTypeName(type))) return undefined;
  const parts = columns.map(({ name, type, notNull }) => `${quoteReported(name)} ${type}${notNull ? ' NOT NULL' : ''}`);
  const key = table.keyColumns.length === 0 ? [] : [`PRIMARY KEY (${table.keyColumns.map(quoteReported).join(', ')})`];
  // Without REFRESH PUBLICATION, the subscription would not replicate the rows of the new table.
  const refresh =
    subscription === undefined ? '' : ` ALTER SUBSCRIPTION ${quoteReported(subscription)} REFRESH PUBLICATION;`;
  return {
    run_on: 'target',
    statement: `CREATE TABLE ${quoteTable(table)} (${[...parts, ...key].join(', ')});${refresh}`,
  };
}

export function dropTableFix(table: TableName): CauseFix {
  return { run_on: 'target', statement: `DROP TABLE ${quoteTable(table)};` };
}

export function addColumnFix(table: TableName, { name, type }: ColumnDefinition): CauseFix | undefined {
  const fix = alterTarget(table, `ADD COLUMN ${quoteReported(name)} ${type}`, type);
  // The default is an expression of the source, which must not run on the target unread.
  return fix && { ...fix, statement: `${fix.statement} -- with the DEFAULT of the source, or older rows stay NULL` };
}

export function dropColumnFix(table: TableName, { name }: Pick<ColumnDefinition, 'name'>): CauseFix | undefined {
  return alterTarget(table, `DROP COLUMN ${quoteReported(name)}`);
}

export function columnTypeFix(table: TableName, { name, type }: ColumnDefinition): CauseFix | undefined {
  const quoted = quoteReported(name);
  return alterTarget(table, `ALTER COLUMN ${quoted} TYPE ${type} USING ${quoted}::${type}`, type);
}

/**
 * Returns the statement that restores the former replica identity of a table. A key that was dropped cannot be added without
 * its name and options.
 */
export function identityFix(before: TableDefinition, after: TableDefinition): CauseFix {
  const isBack = before.identity === 'd' && after.identity !== 'd' && after.hasReplicaIdentity;
  const identity = isBack || (before.identity === 'd' && after.identity === 'n') ? 'DEFAULT' : 'FULL';
  const hasLostKey = before.identity === 'd' && after.identity === 'd' && before.keyColumns.length > 0;
  const action = hasLostKey
    ? `ADD PRIMARY KEY (${before.keyColumns.map(quoteReported).join(', ')})`
    : `REPLICA IDENTITY ${identity}`;
  return { run_on: 'source', statement: `ALTER TABLE ${quoteTable(after)} ${action};` };
}

function quoteTable({ schema, table }: TableName): string {
  return `${quoteReported(schema)}.${quoteReported(table)}`;
}

function alterTarget(table: TableName, action: string, type = 'integer'): CauseFix | undefined {
  return isTypeName(type) ? { run_on: 'target', statement: `ALTER TABLE ${quoteTable(table)} ${action};` } : undefined;
}

/**
 * Whether the text consists of names, quoted names, and modifiers in parentheses or brackets. The text is checked,
 * because it comes from the source and becomes part of a statement for the target.
 */
function isTypeName(text: string): boolean {
  return /^(?:[\p{L}\p{N}_$. ]|"[^"\p{Cc}]+"|\([\p{L}\p{N}_, -]+\)|\[\])+$/u.test(text);
}
