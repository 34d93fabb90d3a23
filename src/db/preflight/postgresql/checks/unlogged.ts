import { countOf } from '../../../../base/text.ts';
import { requoteName } from '../../../../postgresql/quote.ts';
import {
  type FixEffect,
  failOutcome,
  infoOutcome,
  passOutcome,
  resultEffect,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { bodyStatementsQuery, functionsThatEmpty } from '../queries/body-statements.ts';
import { type UnloggedKey, unloggedKeysQuery } from '../queries/constraints.ts';
import { unusualRelationsQuery } from '../queries/relations.ts';
import {
  describeMissed,
  incomparableColumnsQuery,
  missedColumnsQuery,
  unsafeIdentitiesQuery,
} from '../queries/replica-identities.ts';
import { sourceVersionNumber } from '../source-facts.ts';
import {
  chooseIdentity,
  groupIncomparable,
  identityClause,
  identityEffect,
  identityProblem,
  identityStatement,
} from './replica-identity.ts';

export const unloggedCheck = declareDatabaseCheck({
  id: 'unlogged',
  title: 'the database has no unlogged tables',
  headline: 'The database has unlogged tables',
  severity: { continuous: 'blocker', dump: 'info' },
  queries: {
    relations: unusualRelationsQuery,
    identities: unsafeIdentitiesQuery,
    unequalColumns: incomparableColumnsQuery,
    unloggedReferences: unloggedKeysQuery,
    missedColumns: missedColumnsQuery,
    bodies: bodyStatementsQuery,
  },
  evaluate(
    { relations, identities, unequalColumns, unloggedReferences, missedColumns, bodies },
    database,
    facts,
    options,
  ) {
    const tables = relations.unlogged;
    if (tables.length === 0) return passOutcome('none');
    const observed = countOf(tables.length, 'table');
    if (options.method === 'dump') {
      return infoOutcome(observed, {
        detail: 'A dump contains the rows of unlogged tables.',
        objects: limitObjects(tables),
      });
    }
    const version = sourceVersionNumber(facts);
    const unequal = groupIncomparable([...unequalColumns, ...describeMissed(missedColumns, options)]);
    // A table that is changed to LOGGED is published, so it needs a replica identity like every table.
    const lacking = identities.filter((table) => table.unlogged && identityProblem(table, version) !== undefined);
    const keys = lacking.flatMap((table) => {
      const identity = chooseIdentity(table, unequal, version);
      return identity === undefined ? [] : [{ table, identity }];
    });
    const stuck = lacking.filter((table) => !keys.some((key) => key.table === table)).map(({ name }) => name);
    const ordered = sortReferencedFirst(tables, unloggedReferences).filter(
      (table) => !staysUnlogged(table, stuck, unloggedReferences),
    );
    const outward = version < truncateSent ? [] : unloggedReferences.filter(({ logged }) => logged);
    const truncated = outward.filter((one) => one.truncated);
    const emptying = functionsThatEmpty(bodies);
    const emptied = outward.filter((one) => emptying(one).length > 0);
    const more = {
      required: 'none',
      detail: `Unlogged tables are not written to the WAL and not replicated, without an error: the tables exist on the target, but are empty.${unlistedNote(tables)}${truncateImpact({ outward, truncated, emptied }, emptied.flatMap(emptying))}`,
      objects: limitObjects(tables),
      dataLoss: `the rows of ${countOf(tables.length, 'unlogged table')}`,
      fix: {
        sql: [
          ...keys.map(({ table, identity }) => identityStatement(table, identity)),
          ...ordered.map((table) => `ALTER TABLE ${requoteName(table)} SET LOGGED`),
        ],
        undo: [
          ...ordered.toReversed().map((table) => `ALTER TABLE ${requoteName(table)} SET UNLOGGED`),
          ...keys.map(({ table }) => identityStatement(table, identityClause(table))),
        ],
        effects: [...keys.map(({ table, identity }) => identityEffect(table, identity)), ...becomeLogged(ordered)],
        database,
        by: 'the owner of the tables, or a superuser',
        text: `SET LOGGED rewrites the whole table, also to the WAL, under an ACCESS EXCLUSIVE lock. Skip SET LOGGED for tables whose rows are not needed.${stuck.length === 0 ? '' : ` First give ${limitObjects(stuck).join(', ')} a primary key or a REPLICA IDENTITY: once these tables are published, UPDATE and DELETE on them fail without a replica identity.`}`,
      },
    };
    if (truncated.length > 0) return failOutcome(['continuous'], observed, more);
    if (emptied.length === 0) return warnOutcome(observed, more);
    const named = [...new Set(emptied.map(({ to }) => to))].slice(0, 3).join(', ');
    return {
      ...unknownOutcome(`${observed}, and functions with TRUNCATE`),
      ...more,
      premise: `no TRUNCATE of ${named} during the migration`,
      settledBy: 'SET LOGGED, or DELETE instead of TRUNCATE and then --accept unlogged',
    };
  },
});

/** PostgreSQL does not allow a logged table to reference an unlogged one. */
function staysUnlogged(table: string, stuck: readonly string[], references: readonly UnloggedKey[]): boolean {
  const reached = new Set([table]);
  // The loop also visits elements that are added during the iteration.
  for (const one of reached) {
    if (stuck.includes(one)) return true;
    for (const { from, to, logged } of references) if (from === one && !logged) reached.add(to);
  }
  return false;
}

function becomeLogged(tables: readonly string[]): readonly FixEffect[] {
  const logged = new Set(tables);
  return [
    resultEffect(unusualRelationsQuery, (all) => ({
      ...all,
      unlogged: all.unlogged.filter((name) => !logged.has(name)),
    })),
    resultEffect(unsafeIdentitiesQuery, (all) =>
      all.map((table) => (logged.has(table.name) ? { ...table, unlogged: false } : table)),
    ),
    resultEffect(unloggedKeysQuery, (all) => all.filter(({ from }) => !logged.has(from))),
  ];
}

/** PostgreSQL 10 does not replicate TRUNCATE. */
const truncateSent = 110_000;

/** The target truncates only replicated tables, so a foreign key of a table that is not replicated makes TRUNCATE fail. */
function truncateImpact(
  keys: Readonly<Record<'outward' | 'truncated' | 'emptied', readonly UnloggedKey[]>>,
  functions: readonly string[],
): string {
  const { outward, truncated, emptied } = keys;
  const [first] = [...truncated, ...emptied, ...outward];
  if (first === undefined) return '';
  const contained = `and functions contain it: ${limitObjects([...new Set(functions)]).join(', ')}`;
  const unseen = emptied.length > 0 ? contained : 'although there is no sign of an earlier TRUNCATE';
  const sign =
    truncated.length > 0
      ? `and there are signs of an earlier TRUNCATE of ${first.to} in its files and statistics`
      : unseen;
  return ` ${first.from} references ${first.to}, which is replicated: a TRUNCATE of both, or with CASCADE, stops the replication of the whole database, ${sign}: "cannot truncate a table referenced in a foreign key constraint". SET LOGGED, or dropping the foreign key, prevents this.`;
}

/**
 * A logged table cannot reference an unlogged one, so SET LOGGED must run for referenced tables first. Tables that
 * reference each other in a cycle keep their order.
 */
export function sortReferencedFirst(tables: readonly string[], references: readonly UnloggedKey[]): readonly string[] {
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
