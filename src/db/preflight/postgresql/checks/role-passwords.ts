import { countOf } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { userRolesQuery } from '../queries/roles.ts';

export const rolePasswordsCheck = declareServerCheck({
  id: 'role-passwords',
  title: 'no other role can log in',
  headline: 'Other roles can log in',
  severity: { continuous: 'warning', dump: 'warning' },
  needs: 'connection',
  queries: { logins: userRolesQuery },
  evaluate({ logins }, facts) {
    const others = logins.filter(({ name, canLogin }) => canLogin && name !== facts.username).map(({ name }) => name);
    if (others.length === 0) return passOutcome('none');
    return warnOutcome(countOf(others.length, 'other login role'), {
      required: 'none, or passwords that are set at the cut-over',
      dataLoss: `the ${others.length === 1 ? 'password' : 'passwords'} of ${countOf(others.length, 'role')}`,
      detail: 'Roles are created on the target with random passwords; md5 and SCRAM verifiers are not migrated.',
      objects: others.slice(0, 20),
      fix: {
        text: 'Set the passwords on the target before the applications connect to it; the line passwords of `cloudctl db cutover` shows which are missing.',
      },
    });
  },
});
