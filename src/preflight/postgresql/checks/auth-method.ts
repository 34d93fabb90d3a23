import { connectErrorCodes } from '../../../platform/connect-error.ts';
import { type CheckOutcome, pass, warn } from '../../finding.ts';
import { isConnectedOverLoopback } from '../../network/evaluate-host.ts';
import { serverCheck } from '../check.ts';
import { evaluateLoginStep, failedLoginOutcome } from '../login-steps.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';

export const authMethodCheck = serverCheck({
  id: 'auth-method',
  title: 'the server requests the password with SCRAM',
  headline: 'The server requests the password in clear text',
  severity: { continuous: 'blocker', dump: 'blocker' },
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLoginStep(
      facts,
      'auth-method',
      () => acceptedMethod(facts),
      (why) => failedLoginOutcome(why, refusals[why.code] ?? cleartextRefused),
    );
  },
});

const scram = 'scram-sha-256';

function acceptedMethod(facts: PostgresqlSourceFacts): CheckOutcome {
  const { connection, address, tls } = facts;
  if (connection.kind !== 'entered') return pass('not in clear text');
  switch (connection.authentication) {
    case 'none':
      return pass('the server did not request a password');
    case 'md5':
      return warn('md5', {
        headline: 'The server requests an MD5 hash of the password',
        required: scram,
        detail:
          'Whoever records the login can find the password from the hash, and the hash that the server stores is enough to log in. PostgreSQL 18 deprecates MD5 passwords.',
        fix: {
          text: `Set password_encryption = '${scram}' (a reload), set the password again with \\password in psql, and use ${scram} in pg_hba.conf.`,
          reload: true,
        },
      });
    case 'password':
      if (isConnectedOverLoopback(address)) return pass('clear text, on this machine');
      if (tls.verified === true) return pass('clear text, to the verified server');
      return warn('clear text, as allowed by --allow-cleartext-password', {
        required: scram,
        detail: 'The password was sent to a server whose certificate was not verified.',
        fix: cleartextFix,
      });
    default:
      return pass(connection.authentication);
  }
}

const cleartextFix = {
  text: `Give the CA certificate of the server (--ca-file FILE, or sslmode=verify-full&sslrootcert=FILE), or use ${scram} in pg_hba.conf. --allow-cleartext-password sends the password nevertheless.`,
};

const cleartextRefused = {
  required: `${scram}, or a verified certificate`,
  detail:
    'The password was not sent. Without a verified certificate anyone on the network path can answer in place of the server, and would receive the password of this role.',
  fix: cleartextFix,
};

const noProof = {
  headline: 'The server did not prove that it knows the password',
  required: 'SCRAM with the proof of the server',
  detail:
    'The server ended the login without its SCRAM proof. A server that does not know the password does that; so may a faulty proxy.',
  fix: { text: 'Check the host and the port, and connect to the server instead of a proxy.' },
};

const intercepted = {
  headline: 'The TLS connection ends before it reaches the server',
  required: 'TLS from this machine to the server',
  detail:
    'The password is bound to the certificate that this machine received, and the server has another one: a proxy or an attacker in between ends the TLS connection. The service may be refused in the same way.',
  fix: {
    text: 'Connect to the server instead of a proxy; if there should be none, find out who answers at this address.',
  },
};

const refusals: Readonly<Record<string, typeof noProof>> = {
  [connectErrorCodes.serverProof]: noProof,
  [connectErrorCodes.channelBinding]: intercepted,
};
