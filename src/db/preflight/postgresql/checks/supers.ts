import { countOf } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { userRolesQuery } from '../queries/roles.ts';

export const otherSupersCheck = declareServerCheck({
  id: 'supers',
  title: 'no other role is a superuser',
  headline: 'Other roles are superusers',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { logins: userRolesQuery },
  evaluate({ logins }, facts) {
    const others = logins.filter(({ name, superuser }) => superuser && name !== facts.username).map(({ name }) => name);
    if (others.length === 0) return passOutcome('none');
    return warnOutcome(countOf(others.length, 'other superuser'), {
      required: 'none',
      detail:
        'The administrator of the target is not a superuser and cannot create one: "role … not in permitted superuser list". Objects owned by superusers belong to that administrator after the migration.',
      objects: others.slice(0, 20),
      fix: {
        text: 'No action is needed before the migration; decide which roles of the target replace the superusers.',
      },
    });
  },
});
