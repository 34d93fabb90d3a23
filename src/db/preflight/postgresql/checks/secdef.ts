import { countOf } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { superuserFunctionsQuery } from '../queries/privileges.ts';
import { superusersQuery } from '../queries/roles.ts';

export const secdefCheck = declareDatabaseCheck({
  id: 'secdef',
  title: 'no SECURITY DEFINER function is owned by a superuser',
  headline: 'A SECURITY DEFINER function is owned by a superuser',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { markedFunctions: superuserFunctionsQuery, superusers: superusersQuery },
  evaluate({ markedFunctions, superusers }) {
    const owners = new Set(superusers);
    const found = markedFunctions.filter(({ securityDefiner, owner }) => securityDefiner && owners.has(owner));
    if (found.length === 0) return passOutcome('none');
    return warnOutcome(countOf(found.length, 'function'), {
      required: 'none',
      detail: `SECURITY DEFINER functions run with the privileges of their owner. A managed target has no superuser ("role … not in permitted superuser list"), so the owner of these functions on the target has fewer privileges, and the functions can fail.${unlistedNote(found)}`,
      objects: limitObjects(found).map(({ name, owner }) => `${name} (owner ${owner})`),
      fix: {
        by: 'a superuser',
        text: 'Change the owner of the functions to a role with only the needed privileges: ALTER FUNCTION … OWNER TO ….',
      },
    });
  },
});
