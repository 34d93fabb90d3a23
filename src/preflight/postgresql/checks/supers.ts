import { pass, warn } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { loginRolesQuery } from '../queries/login-roles.ts';
import { countText } from '../units.ts';

export const supersCheck = serverCheck({
  id: 'supers',
  title: 'no other role is a superuser',
  headline: 'Other roles are superusers',
  severity: { continuous: 'warning', dump: 'warning' },
  needs: 'connection',
  queries: { logins: loginRolesQuery },
  evaluate({ logins }, facts) {
    const others = logins.filter(({ name, superuser }) => superuser && name !== facts.username).map(({ name }) => name);
    if (others.length === 0) return pass('none');
    return warn(countText(others.length, 'other superuser'), {
      required: 'none',
      detail:
        'The administrator of the target is no superuser and cannot make one: "role … not in permitted superuser list". What they own belongs to the administrator of the target afterwards.',
      objects: others.slice(0, 20),
      fix: { text: 'Nothing has to be done before; plan which roles of the target take their place.' },
    });
  },
});
