import { connectErrorCodes } from '../../../platform/connect-error.ts';
import { quoteIdentifier, quoteLiteral } from '../../../postgresql/quote.ts';
import { type Fix, pass, unknown } from '../../finding.ts';
import { serverCheck } from '../check.ts';
import { evaluateLoginStep, failLogin } from '../login-steps.ts';

export const authPasswordCheck = serverCheck({
  id: 'auth-password',
  title: 'the server accepts the password',
  headline: 'The password was not accepted',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '2',
  needs: 'address',
  queries: {},
  evaluate(_values, facts, { isOverInternet }) {
    const { connection, username } = facts;
    return evaluateLoginStep(
      facts,
      'auth-password',
      () =>
        isOverInternet && connection.kind === 'entered' && !connection.passwordAsked
          ? unknown(`${username} is let in without a question for the password`, notAsked)
          : pass(`${username} is let in`),
      (why) => failLogin(why, why.code === connectErrorCodes.noPassword ? noPassword : wrongPassword(facts.username)),
    );
  },
});

/** From elsewhere another line of pg_hba.conf decides, which may ask. */
const notAsked: Fix = {
  text: 'The host rule for this machine asks for no password (trust, or a certificate), so it was not proven right. Run this from a machine that a rule with scram-sha-256 is for, or set the password anew: \\password in psql.',
};

const noPassword = {
  required: 'a password',
  fix: { text: 'Give it by --password-stdin, PGPASSWORD, ~/.pgpass or at the prompt.' },
};

function wrongPassword(username: string) {
  const expired = `SELECT FROM pg_catalog.pg_roles WHERE rolname = ${quoteLiteral(username)} AND rolvaliduntil < now()`;
  const role = quoteIdentifier(username);
  const renew = `BEGIN IF EXISTS (${expired}) THEN ALTER ROLE ${role} VALID UNTIL 'infinity'; END IF; END`;
  return {
    required: 'the password of the role',
    detail:
      'The server says the same of a wrong password, of a role that does not exist and of one whose VALID UNTIL is over; only its own log tells which.',
    fix: {
      sql: [`DO ${quoteLiteral(renew)}`],
      text: `Give the right password, or set it anew (\\password in psql). If the role has expired: ALTER ROLE ${role} VALID UNTIL 'infinity'.`,
    },
  };
}
