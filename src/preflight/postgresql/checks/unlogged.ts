import { fail, info, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { type UnloggedReference, unloggedReferencesQuery } from '../queries/constraints.ts';
import { relationsQuery } from '../queries/relations.ts';
import { columnsWithoutEqualityQuery, replicaIdentitiesQuery } from '../queries/replica-identities.ts';
import {
  currentReplicaIdentity,
  incomparableColumnsByTable,
  replicaIdentityProblem,
  replicaIdentityStatement,
  usableReplicaIdentity,
} from '../replica-identity-fix.ts';
import { countText } from '../units.ts';

export const unloggedCheck = databaseCheck({
  id: 'unlogged',
  title: 'the database has no unlogged tables',
  headline: 'The database has unlogged tables',
  severity: { continuous: 'blocker', dump: 'info' },
  queries: {
    relations: relationsQuery,
    identities: replicaIdentitiesQuery,
    unequalColumns: columnsWithoutEqualityQuery,
    unloggedReferences: unloggedReferencesQuery,
  },
  evaluate({ relations, identities, unequalColumns, unloggedReferences }, database, { connection }, { method }) {
    const tables = relations.unlogged;
    if (tables.length === 0) return pass('none');
    const observed = countText(tables.length, 'table');
    if (method === 'dump') {
      return info(observed, { detail: 'A dump contains their rows.', objects: firstObjects(tables) });
    }
    const version = connection.kind === 'entered' ? connection.version : 0;
    const unequal = incomparableColumnsByTable(unequalColumns);
    // A table changed to LOGGED is published, and then it needs a replica identity like every table.
    const keys = identities.flatMap((table) => {
      const identity =
        replicaIdentityProblem(table, version) === undefined
          ? undefined
          : usableReplicaIdentity(table, unequal, version);
      return table.unlogged && identity !== undefined ? [{ table, identity }] : [];
    });
    const ordered = referencedTablesFirst(tables, unloggedReferences);
    const outward = version < truncateSent ? [] : unloggedReferences.filter(({ logged }) => logged);
    const truncated = outward.filter((one) => one.truncated);
    const more = {
      required: 'none',
      detail: `Unlogged tables are not written to the WAL and not replicated, without an error: the tables exist on the target, but are empty.${unlistedNote(tables)}${truncateImpact(outward, truncated)}`,
      objects: firstObjects(tables),
      dataLoss: `the rows of ${countText(tables.length, 'unlogged table')}`,
      fix: {
        sql: [
          ...keys.map(({ table, identity }) => replicaIdentityStatement(table, identity)),
          ...ordered.map((table) => `ALTER TABLE ${table} SET LOGGED`),
        ],
        undo: [
          ...ordered.toReversed().map((table) => `ALTER TABLE ${table} SET UNLOGGED`),
          ...keys.map(({ table }) => replicaIdentityStatement(table, currentReplicaIdentity(table))),
        ],
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'SET LOGGED rewrites the whole table, also to the WAL, under an ACCESS EXCLUSIVE lock. Skip tables whose rows are not needed.',
      },
    };
    return truncated.length > 0 ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

/** Version 10 does not replicate TRUNCATE. */
const truncateSent = 110_000;

/** The target truncates only replicated tables, so a foreign key of a table that is not replicated makes TRUNCATE fail. */
function truncateImpact(outward: readonly UnloggedReference[], truncated: readonly UnloggedReference[]): string {
  const [first] = truncated.length > 0 ? truncated : outward;
  if (first === undefined) return '';
  const when =
    truncated.length > 0
      ? `and ${first.to} was truncated before, according to its files and statistics`
      : 'although there is no sign of an earlier TRUNCATE';
  return ` ${first.from} references ${first.to}, which is replicated: a TRUNCATE of both, or with CASCADE, stops the replication of the whole database, ${when}: "cannot truncate a table referenced in a foreign key constraint". SET LOGGED, or dropping the foreign key, prevents this.`;
}

/** A logged table cannot reference an unlogged one, so referenced tables come first. Tables in a cycle keep their order. */
export function referencedTablesFirst(
  tables: readonly string[],
  references: readonly UnloggedReference[],
): readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of references) targets.set(from, [...(targets.get(from) ?? []), to]);
  const known = new Set(tables);
  const done = new Set<string>();
  const begun = new Set<string>();
  for (const table of tables) {
    const stack = [table];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      begun.add(top);
      const next = targets.get(top)?.find((target) => known.has(target) && !begun.has(target));
      if (next !== undefined) stack.push(next);
      else {
        done.add(top);
        stack.pop();
      }
    }
  }
  return [...done];
}
