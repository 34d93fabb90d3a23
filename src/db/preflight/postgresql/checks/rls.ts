import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { buildRoleChangeFixEffect, failOutcome, passOutcome } from '../../finding.ts';

import { buildUnlistedObjectsNote, declareDatabasePreflightCheck, limitFindingObjects } from '../check.ts';

import { relationsWithUnusualPropertiesQuery } from '../queries/relations.ts';

export const rlsCheck = declareDatabasePreflightCheck({
  id: 'rls',
  title: 'row-level security hides no rows from the role',
  headline: 'Row-level security hides rows from the role',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { relations: relationsWithUnusualPropertiesQuery },
  evaluate({ relations: { secured } }, _database, { username }) {
    if (secured.length === 0) return passOutcome('no hidden rows');
    const role = quoteIdentifier(username);
    return failOutcome(['continuous', 'dump'], countOf(secured.length, 'table'), {
      required: 'a superuser, or a role with BYPASSRLS',
      detail: `The row-level security policies of the listed tables apply to the role. COPY omits the hidden rows without an error; pg_dump fails with "query would be affected by row-level security policy".${buildUnlistedObjectsNote(secured)}`,
      objects: limitFindingObjects(secured).map(({ name, forced }) => (forced ? `${name} (FORCE)` : name)),
      fix: {
        sql: [`ALTER ROLE ${role} BYPASSRLS`],
        undo: [`ALTER ROLE ${role} NOBYPASSRLS`],
        effects: [buildRoleChangeFixEffect({ bypassRls: true })],
        text: 'Allow the role to see all rows for the duration of the migration.',
      },
    });
  },
});
