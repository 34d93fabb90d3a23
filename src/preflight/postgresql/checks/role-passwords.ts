import { countOf } from '../../../base/text.ts';
import { infoOutcome, passOutcome } from '../../finding.ts';
import { declareServerPreflightCheck } from '../check.ts';
import { userLoginOrSuperuserRolesQuery } from '../queries/login-roles.ts';

export const rolePasswordsCheck = declareServerPreflightCheck({
  id: 'role-passwords',
  title: 'no other role can log in',
  headline: 'Other roles can log in',
  severity: { continuous: 'info', dump: 'info' },
  needs: 'connection',
  queries: { logins: userLoginOrSuperuserRolesQuery },
  evaluate({ logins }, facts) {
    const others = logins.filter(({ name, canLogin }) => canLogin && name !== facts.username).map(({ name }) => name);
    if (others.length === 0) return passOutcome('none');
    return infoOutcome(countOf(others.length, 'other login role'), {
      detail: 'Roles are created on the target with random passwords; md5 and SCRAM verifiers are not migrated.',
      objects: others.slice(0, 20),
      fix: { text: 'Set new passwords on the target before the applications connect to it.' },
    });
  },
});
