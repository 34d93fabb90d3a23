import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier, requoteName } from '../../../../postgresql/quote.ts';
import {
  type CheckOutcome,
  failOutcome,
  passOutcome,
  resultEffect,
  roleEffect,
  unknownOutcome,
} from '../../finding.ts';
import type { PreflightOptions } from '../../options.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { type UnusualRelations, unusualRelationsQuery } from '../queries/relations.ts';
import { targetVersionNumber } from '../source-facts.ts';

export const rlsCheck = declareDatabaseCheck({
  id: 'rls',
  title: 'row-level security hides no rows from the role, and the target may write every table',
  headline: 'Row-level security hides rows from the role',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { relations: unusualRelationsQuery },
  evaluate({ relations: { secured, forced } }, database, { username }, options) {
    if (secured.length === 0) return judgeForced(forced, database, options);
    const role = quoteIdentifier(username);
    return failOutcome(['continuous', 'dump'], countOf(secured.length, 'table'), {
      required: 'a superuser, or a role with BYPASSRLS',
      detail: `The row-level security policies of the listed tables apply to the role. COPY omits the hidden rows without an error; pg_dump fails with "query would be affected by row-level security policy".${unlistedNote(secured)}`,
      objects: limitObjects(secured).map(({ name, forced }) => (forced ? `${name} (FORCE)` : name)),
      fix: {
        sql: [`ALTER ROLE ${role} BYPASSRLS`],
        undo: [`ALTER ROLE ${role} NOBYPASSRLS`],
        effects: [roleEffect({ bypassRls: true })],
        text: 'Allow the role to see all rows for the duration of the migration.',
      },
    });
  },
});

/**
 * Since PostgreSQL 16 a subscription writes as the owner of the table. Without the owners of the source, that is the
 * login of the target, which also restores a dump.
 */
function judgeForced(all: UnusualRelations['forced'], database: string, options: PreflightOptions): CheckOutcome {
  const read = options.target?.postgresql;
  const version = targetVersionNumber(options);
  const isHeld = read !== undefined && !read.bypassesRls;
  const isByOwner = version === undefined || version >= 160_000;
  // A superuser can give the tables to the owners of the source, whose attributes are in no dump.
  const found = isHeld || read === undefined ? all : read.isSuperuser ? all.filter(({ bypasses }) => !bypasses) : [];
  if (found.length === 0 || !(isHeld || isByOwner)) return passOutcome('no hidden rows');
  const statement = (table: string, how: string) => `ALTER TABLE ${requoteName(table)} ${how} ROW LEVEL SECURITY`;
  const observed = `${countOf(found.length, 'table')} with FORCE ROW LEVEL SECURITY`;
  const more = {
    headline: 'Row-level security applies to the owner of a table',
    required: 'no FORCE ROW LEVEL SECURITY, or owners with BYPASSRLS on the target',
    detail: `${isHeld ? `${read.login} has no BYPASSRLS on the target and owns these tables there` : 'Since PostgreSQL 16 the owner of a table writes what is copied and replicated'}: "cannot replicate into relation with row-level security enabled", and the copy is retried endlessly.${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ name }) => name),
    fix: {
      sql: found.map(({ name }) => statement(name, 'NO FORCE')),
      undo: found.map(({ name }) => statement(name, 'FORCE')),
      effects: [resultEffect(unusualRelationsQuery, (value) => ({ ...value, forced: [] }))],
      database,
      by: 'the owner of the tables',
      text: 'Leave out FORCE until the cut-over, on the source before the schema is copied; then restore it on source and target. Meanwhile sessions of the owner see every row, so an application that logs in as the owner needs another role.',
    },
  };
  if (isHeld) return failOutcome(['continuous', 'dump'], observed, more);
  return {
    ...unknownOutcome(observed),
    ...more,
    ...(read === undefined
      ? { premise: 'a role that bypasses row-level security owns the tables on the target', settledBy: '--target URL' }
      : {
          premise: 'the service leaves out owners (pg_dump --no-owner)',
          settledBy: 'NO FORCE ROW LEVEL SECURITY on the source',
        }),
  };
}
