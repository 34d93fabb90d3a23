import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import { passOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { evaluateLogin, type FailedConnection, failedLoginOutcome, loginFailedReason } from '../login.ts';

export const authHbaCheck = declareServerCheck({
  id: 'auth-hba',
  title: 'pg_hba.conf allows this login',
  headline: 'The server rejected the login before it checked the password',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.13',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLogin(
      facts,
      'auth-hba',
      () => passOutcome('allowed by pg_hba.conf'),
      (why) => failedLoginOutcome(why, hostRefusal(why, facts.username)),
    );
  },
});

/**
 * Error messages of the login are translated, but in every language they contain the file name and the method names.
 * The server also rejects a login with this message if the pg_hba.conf rule requires a client certificate.
 */
function hostRefusal({ code, message }: FailedConnection, username: string) {
  if (
    code === clientErrorCodes.authentication ||
    /pg_hba|certificate|\b(ident|peer|gssapi|sspi|oauth)\b/i.test(message)
  ) {
    return hostRule(username);
  }
  const elsewhere = /\b(ldap|pam|radius|bsd)\b/i.exec(message)?.[0];
  return elsewhere === undefined ? noLogin(username) : otherPassword(elsewhere, username);
}

function otherPassword(kept: string, username: string) {
  return {
    required: `the password stored in ${kept}`,
    detail: `The first matching rule of pg_hba.conf uses the method ${kept}, which rejected the password or did not respond; the server log gives the reason. The password of the role in PostgreSQL is not used.`,
    fix: {
      ...hostRule(username).fix,
      text: `Use the password stored in ${kept}, or add a rule above that rule: ${hostRule(username).fix.text}`,
    },
  };
}

function noLogin(username: string) {
  const role = quoteIdentifier(username);
  return {
    required: 'a role with LOGIN',
    fix: {
      sql: [`ALTER ROLE ${role} LOGIN`],
      undo: [`ALTER ROLE ${role} NOLOGIN`],
      notSimulated: loginFailedReason,
      text: 'Allow the role to log in, or use another role.',
    },
  };
}

function hostRule(username: string) {
  const rule = `host  all  ${quoteIdentifier(username)}  0.0.0.0/0  scram-sha-256`;
  return {
    required: 'a rule for this user and any IPv4 address, above every other matching rule',
    detail:
      'The first matching rule of pg_hba.conf applies. The service connects from other addresses than this machine.',
    fix: {
      notSimulated: loginFailedReason,
      shell: ['# in pg_hba.conf (path: SHOW hba_file), above the rules that match now:', rule],
      undoShell: [`# remove this line from pg_hba.conf: ${rule}`],
      reload: true,
      text: `Add the rule "${rule}" to pg_hba.conf and reload the configuration (no restart). If the addresses of the service are known, use them instead of 0.0.0.0/0. Remove the rule after the migration.`,
    },
  };
}
