import { fail, info, pass, warn } from '../finding.ts';
import { type Reference, unloggedReferences } from './asks/constraints.ts';
import { identities, unequalColumns } from './asks/identities.ts';
import { relations } from './asks/relations.ts';
import { databaseCheck } from './check.ts';
import { cureOf, faultOf, identityStatement, observedIdentity, unequalByTable } from './identity-cure.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const unlogged = databaseCheck({
  id: 'unlogged',
  title: 'there are no unlogged tables',
  asks: { relations, identities, unequalColumns, unloggedReferences },
  judge({ relations, identities, unequalColumns, unloggedReferences }, database, { entry }, { method }) {
    const tables = relations.unlogged;
    if (tables.length === 0) return pass('none');
    const observed = count(tables.length, 'table');
    if (method === 'dump') {
      return info(observed, { detail: 'A dump carries their rows over.', objects: shown(tables) });
    }
    const version = entry.kind === 'entered' ? entry.version : 0;
    const unequal = unequalByTable(unequalColumns);
    // Once it is logged it is published, and then it needs an identity like every table.
    const keys = identities.flatMap((table) => {
      const cure = faultOf(table, version) === undefined ? undefined : cureOf(table, unequal, version);
      return table.unlogged && cure !== undefined ? [{ table, cure }] : [];
    });
    const ordered = referencedFirst(tables, unloggedReferences);
    const outward = version < truncateSent ? [] : unloggedReferences.filter(({ logged }) => logged);
    const truncated = outward.filter((one) => one.truncated);
    const more = {
      required: 'none',
      detail: `What is not written to the WAL is not replicated, and nobody says so: the tables are on the target, and empty.${unlisted(tables)}${harmOf(outward, truncated)}`,
      objects: shown(tables),
      dataLoss: `the rows of ${count(tables.length, 'unlogged table')}`,
      fix: {
        sql: [
          ...keys.map(({ table, cure }) => identityStatement(table, cure)),
          ...ordered.map((table) => `ALTER TABLE ${table} SET LOGGED`),
        ],
        undo: [
          ...ordered.toReversed().map((table) => `ALTER TABLE ${table} SET UNLOGGED`),
          ...keys.map(({ table }) => identityStatement(table, observedIdentity(table))),
        ],
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'SET LOGGED writes the whole table anew, into the WAL too, and nobody reads or writes it meanwhile. Leave it out where the rows may be lost.',
      },
    };
    return truncated.length > 0 ? fail(['continuous'], observed, more) : warn(observed, more);
  },
});

/** 10 does not send TRUNCATE. */
const truncateSent = 110_000;

/** The target truncates what it was sent and nothing else, so that a foreign key of a table it was not sent forbids it. */
function harmOf(outward: readonly Reference[], truncated: readonly Reference[]): string {
  const [first] = truncated.length > 0 ? truncated : outward;
  if (first === undefined) return '';
  const when =
    truncated.length > 0
      ? `and ${first.to} was truncated before, as its files and counters tell`
      : 'though nothing tells that it was done before';
  return ` ${first.from} refers to ${first.to}, which is replicated: a TRUNCATE of both, or with CASCADE, stops the replication of the whole database, ${when}: "cannot truncate a table referenced in a foreign key constraint". SET LOGGED, or dropping the foreign key, prevents it.`;
}

/** A logged table must not refer to an unlogged one, so what is referred to comes first; a circle stays as it is. */
export function referencedFirst(tables: readonly string[], references: readonly Reference[]): readonly string[] {
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
