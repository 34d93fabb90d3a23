import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import { doStatement, quoteIdentifier, quoteLiteral } from '../../../../postgresql/quote.ts';
import { type FindingFix, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { evaluateLogin, failedLoginOutcome, loginFailedReason } from '../login.ts';

export const authPasswordCheck = declareServerCheck({
  id: 'auth-password',
  title: 'the server accepts the password',
  headline: 'The password was not accepted',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.2',
  needs: 'address',
  queries: {},
  evaluate(_values, facts, { isOverInternet }) {
    const { connection, username } = facts;
    return evaluateLogin(
      facts,
      'auth-password',
      () =>
        isOverInternet && connection.kind === 'entered' && connection.authentication === 'none'
          ? {
              ...unknownOutcome(`the server did not request a password for ${username}`, notRequested),
              headline: 'The password was not verified',
              settledBy: '--accept auth-password',
            }
          : passOutcome(`accepted for ${username}`),
      (why) =>
        failedLoginOutcome(why, why.code === clientErrorCodes.noPassword ? noPassword : wrongPassword(facts.username)),
    );
  },
});

/** For clients at other addresses, pg_hba.conf can contain a rule that requires the password. */
const notRequested: FindingFix = {
  text: 'The pg_hba.conf rule for this machine requires no password (method trust or cert), so the password was not verified. Run the preflight from a machine whose rule uses scram-sha-256, or set the password again with \\password in psql.',
};

const noPassword = {
  required: 'a password',
  fix: { text: 'Provide the password of the role with --password-stdin, PGPASSWORD, ~/.pgpass or at the prompt.' },
};

function wrongPassword(username: string) {
  const expired = `SELECT FROM pg_catalog.pg_roles WHERE rolname = ${quoteLiteral(username)} AND rolvaliduntil < now()`;
  const role = quoteIdentifier(username);
  const renew = `IF EXISTS (${expired}) THEN ALTER ROLE ${role} VALID UNTIL 'infinity'; END IF`;
  return {
    required: 'the password of the role',
    detail:
      'The server sends the same error for a wrong password, a role that does not exist and a role whose VALID UNTIL has passed; only the server log gives the reason.',
    fix: {
      sql: [doStatement(renew)],
      notSimulated: loginFailedReason,
      text: `Provide the correct password, or set it again (\\password in psql). If the role has expired: ALTER ROLE ${role} VALID UNTIL 'infinity'.`,
    },
  };
}
