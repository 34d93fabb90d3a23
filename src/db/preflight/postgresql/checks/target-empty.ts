import { type CheckOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck } from '../check.ts';

/** A warning, because the target that is read may be a staging server in place of the target of the migration. */
export const targetEmptyCheck = declareDatabaseCheck({
  id: 'target-empty',
  title: 'the target has no tables in the database',
  headline: 'The database of the target is not empty',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: {},
  evaluate(_values, database, _facts, { target }): CheckOutcome {
    if (target?.contents === undefined) return skipOutcome('the target was not read');
    const found = target.contents.find((one) => one.database === database);
    if (found === undefined) return passOutcome('none found');
    return warnOutcome(found.reason, {
      required: 'no tables',
      detail:
        'A migration into this server is refused: `cloudctl db migrate` and `cloudctl db rehearse` do not write to a database that has tables.',
      fix: {
        by: 'the administrator of the target',
        text: 'Drop the database on the target if the migration is to write to this server, or skip it with --ignore-dbs.',
      },
    });
  },
});
