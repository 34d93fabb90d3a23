import type { WatchRuleViolation } from '../../status-sample.ts';
import { findSchemaChanges, type SchemaChange, type WatchedSchemaChangeKind } from '../find-schema-changes.ts';
import type { PostgresqlWatchRule } from '../rule-input.ts';

/** DDL is not replicated, so the target fails on the first row that needs the changed table definition. */
export const schemaChangeWatchRule: PostgresqlWatchRule = ({ databases }) =>
  databases.flatMap((database) => {
    const changes = findSchemaChanges(database);
    return [...new Set(changes.map(({ rule }) => rule))].map((rule) =>
      buildSchemaChangeViolation(
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
export function buildSchemaChangeViolation(database: string, changes: readonly SchemaChange[]): WatchRuleViolation {
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
