import { connectErrorCodes } from '../../../platform/connect-error.ts';
import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { pass } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { evaluateLoginStep, failLogin, type RefusedEntry } from '../login-steps.ts';

export const authHbaCheck = serverCheck({
  id: 'auth-hba',
  title: 'pg_hba.conf allows this login',
  headline: 'The server rejected the login before it checked the password',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '4.6',
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLoginStep(
      facts,
      'auth-hba',
      () => pass('a rule of pg_hba.conf lets it in'),
      // The file's name stands in the server's words in every language; a certificate is what a rule asks for too.
      (why) => failLogin(why, hostRefusal(why, facts.username)),
    );
  },
});

/** The names of the file and of the methods stand in the server's words in every language; a certificate is what a rule asks for too. */
function hostRefusal({ code, message }: RefusedEntry, username: string) {
  if (
    code === connectErrorCodes.authentication ||
    /pg_hba|certificate|\b(ident|peer|gssapi|sspi|oauth)\b/i.test(message)
  ) {
    return hostRule(username);
  }
  const elsewhere = /\b(ldap|pam|radius|bsd)\b/i.exec(message)?.[0];
  return elsewhere === undefined ? noLogin(username) : otherPassword(elsewhere, username);
}

function otherPassword(kept: string, username: string) {
  return {
    required: `the password that ${kept} knows`,
    detail: `The first rule of pg_hba.conf that matches leaves the question to ${kept}, which refuses, or does not answer; the log of the server tells which. A password of the role itself is not looked at.`,
    fix: {
      ...hostRule(username).fix,
      text: `Give the password that ${kept} knows, or add a rule above that one: ${hostRule(username).fix.text}`,
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
      text: 'Allow the role to log in, or migrate with another.',
    },
  };
}

function hostRule(username: string) {
  const rule = `host  all  ${quoteIdentifier(username)}  0.0.0.0/0  scram-sha-256`;
  return {
    required: 'a rule for this user and any IPv4 address, above every other that matches',
    detail: 'The first rule of pg_hba.conf that matches decides. The service connects from addresses of its own.',
    fix: {
      shell: ['# in pg_hba.conf, above the rules that match now (SHOW hba_file tells where it is):', rule],
      undoShell: [`# take the line out of pg_hba.conf again: ${rule}`],
      reload: true,
      text: `Add the rule "${rule}" to pg_hba.conf and reload (no restart). The addresses of the service instead of 0.0.0.0/0 are better when they are known. Take it out after the migration.`,
    },
  };
}
