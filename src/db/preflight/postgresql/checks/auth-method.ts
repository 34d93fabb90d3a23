import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import { type CheckOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { usesLoopback } from '../../network/evaluate.ts';
import { declareServerCheck } from '../check.ts';
import { evaluateLogin, failedLoginOutcome } from '../login.ts';
import type { PostgresqlFacts } from '../source-facts.ts';

export const authMethodCheck = declareServerCheck({
  id: 'auth-method',
  title: 'the server requests the password with SCRAM',
  headline: 'The server requests the password in clear text',
  severity: { continuous: 'blocker', dump: 'blocker' },
  needs: 'address',
  queries: {},
  evaluate(_values, facts) {
    return evaluateLogin(
      facts,
      'auth-method',
      () => acceptedMethod(facts),
      (why) => failedLoginOutcome(why, refusals[why.code] ?? cleartextRefused),
    );
  },
});

const scram = 'scram-sha-256';

function acceptedMethod(facts: PostgresqlFacts): CheckOutcome {
  const { connection, address, tls } = facts;
  if (connection.kind !== 'entered') return passOutcome('a password request that is not in clear text');
  switch (connection.authentication) {
    case 'none':
      return passOutcome('the server did not request a password');
    case 'md5':
      return warnOutcome('md5', {
        headline: 'The server requests an MD5 hash of the password',
        required: scram,
        detail:
          'An attacker who records the login can compute the password from the MD5 hash, and the MD5 hash that the server stores is sufficient for a login. PostgreSQL 18 deprecates MD5 passwords.',
        fix: {
          text: `Set password_encryption = '${scram}' (a reload), set the password again with \\password in psql, and use ${scram} in pg_hba.conf.`,
          reload: true,
        },
      });
    case 'password':
      if (usesLoopback(address)) return passOutcome('a password in clear text, to a server on this machine');
      if (tls.verified === true)
        return passOutcome('a password in clear text, to a server with a verified certificate');
      return warnOutcome('a password in clear text, as allowed by --allow-cleartext-password', {
        required: scram,
        detail: 'The password was sent to a server whose certificate was not verified.',
        fix: cleartextFix,
      });
    default:
      return passOutcome(connection.authentication);
  }
}

const cleartextFix = {
  text: `Give the CA certificate of the server (--ca-file FILE, or sslmode=verify-full&sslrootcert=FILE), or use ${scram} in pg_hba.conf. --allow-cleartext-password sends the password nevertheless.`,
};

const cleartextRefused = {
  required: `${scram}, or a verified certificate of the server`,
  detail:
    'The password was not sent. Without a verified certificate anyone on the network path can impersonate the server, and would receive the password of the role.',
  fix: cleartextFix,
};

const weakScram = {
  headline: 'The server requests a SCRAM proof with too few iterations',
  required: 'at least 4096 iterations, or a verified certificate of the server',
  detail:
    'The proof was not sent. The server chooses the number of iterations, and with few of them whoever receives the proof can try many passwords per second.',
  fix: {
    text: 'Give the CA certificate of the server (--ca-file FILE, or sslmode=verify-full&sslrootcert=FILE), or set scram_iterations to 4096 and set the password again with \\password in psql.',
  },
};

const noProof = {
  headline: 'The server did not prove that it knows the password',
  required: 'SCRAM authentication in which the server proves that it knows the password',
  detail:
    'The server ended the SCRAM login without proof that it knows the password. A server that does not know the password, or a faulty proxy, ends a login in this way.',
  fix: { text: 'Check the host and the port, and connect to the server instead of a proxy.' },
};

const intercepted = {
  headline: 'The TLS connection ends before it reaches the server',
  required: 'TLS from this machine to the server',
  detail:
    'The password is bound to the certificate that this machine received, and the server has another certificate: a proxy or an attacker in between ends the TLS connection. The server may refuse the service in the same way.',
  fix: {
    text: 'Connect to the server instead of a proxy; if there should be no proxy, find out who responds at the address of the source.',
  },
};

const refusals: Readonly<Record<string, typeof noProof>> = {
  [clientErrorCodes.weakScram]: weakScram,
  [clientErrorCodes.serverProof]: noProof,
  [clientErrorCodes.channelBinding]: intercepted,
};
