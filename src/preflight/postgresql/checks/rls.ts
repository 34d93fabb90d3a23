import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { fail, pass } from '../../finding.ts';
import { changesRole } from '../../fix-effect.ts';
import { databaseCheck } from '../check.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { relationsQuery } from '../queries/relations.ts';
import { pluralize } from '../units.ts';

export const rlsCheck = databaseCheck({
  id: 'rls',
  title: 'row-level security hides no rows from the role',
  headline: 'Row-level security hides rows from the role',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { relations: relationsQuery },
  evaluate({ relations: { secured } }, _database, { username }) {
    if (secured.length === 0) return pass('no hidden rows');
    const role = quoteIdentifier(username);
    return fail(['continuous', 'dump'], pluralize(secured.length, 'table'), {
      required: 'a superuser, or a role with BYPASSRLS',
      detail: `The row-level security policies of the listed tables apply to the role. COPY omits the hidden rows without an error; pg_dump fails with "query would be affected by row-level security policy".${unlistedNote(secured)}`,
      objects: firstListedObjects(secured).map(({ name, forced }) => (forced ? `${name} (FORCE)` : name)),
      fix: {
        sql: [`ALTER ROLE ${role} BYPASSRLS`],
        undo: [`ALTER ROLE ${role} NOBYPASSRLS`],
        effects: [changesRole({ bypassRls: true })],
        text: 'Allow the role to see all rows for the duration of the migration.',
      },
    });
  },
});
