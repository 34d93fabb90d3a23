import { countOf } from '../../../../base/text.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { userRolesQuery } from '../queries/roles.ts';

export const rolePasswordsCheck = declareServerCheck({
  id: 'role-passwords',
  title: 'no other role has a password or an attribute that the target does not get',
  headline: 'Passwords of roles are not migrated',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { logins: userRolesQuery },
  evaluate({ logins }, { username }) {
    const others = logins.filter(
      ({ name, canLogin, attributes }) => name !== username && (canLogin || attributes.length > 0),
    );
    if (others.length === 0) return passOutcome('none');
    const withPassword = others.filter(({ canLogin }) => canLogin).length;
    const limited = others.filter(({ attributes }) => attributes.length > 0);
    const attributes = [...new Set(limited.flatMap((one) => one.attributes))].sort().join(' and ');
    const losses = [
      ...(withPassword === 0
        ? []
        : [`the ${withPassword === 1 ? 'password' : 'passwords'} of ${countOf(withPassword, 'role')}`]),
      ...(limited.length === 0 ? [] : [`${attributes} of ${countOf(limited.length, 'role')}`]),
    ];
    return warnOutcome(countOf(others.length, 'other role'), {
      required: 'none, or passwords and attributes that are set at the cut-over',
      dataLoss: losses.join(' and '),
      detail: `Roles are created on the target with random passwords; md5 and SCRAM verifiers are not migrated.${limited.length === 0 ? '' : ` They have no ${attributes} there: without BYPASSRLS a role sees only the rows that the policies show it.`}`,
      objects: others
        .slice(0, 20)
        .map((one) => (one.attributes.length === 0 ? one.name : `${one.name} (${one.attributes.join(', ')})`)),
      fix: {
        text: 'Set the passwords on the target before the applications connect to it; the line passwords of `cloudctl db cutover` shows which are missing.',
      },
    });
  },
});
