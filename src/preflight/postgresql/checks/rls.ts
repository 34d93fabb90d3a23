import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { fail, pass } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { relationsQuery } from '../queries/relations.ts';
import { countText } from '../units.ts';

export const rlsCheck = databaseCheck({
  id: 'rls',
  title: 'row-level security hides no rows from the role',
  headline: 'Row-level security hides rows from the role',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { relations: relationsQuery },
  evaluate({ relations: { secured } }, _database, { username }) {
    if (secured.length === 0) return pass('nothing hidden');
    const role = quoteIdentifier(username);
    return fail(['continuous', 'dump'], countText(secured.length, 'table'), {
      required: 'a superuser, or a role with BYPASSRLS',
      detail: `The policies of these tables hold for the role. COPY takes the rows that they let through and says nothing of the others; pg_dump ends with "query would be affected by row-level security policy".${unlistedNote(secured)}`,
      objects: firstObjects(secured).map(({ name, forced }) => (forced ? `${name} (FORCE)` : name)),
      fix: {
        sql: [`ALTER ROLE ${role} BYPASSRLS`],
        undo: [`ALTER ROLE ${role} NOBYPASSRLS`],
        text: 'Let the role see all rows, and take that back after the migration.',
      },
    });
  },
});
