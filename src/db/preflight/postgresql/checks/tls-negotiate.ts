import { clientErrorCodes } from '../../../../platform/network-errors.ts';
import { type CheckOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { usesLoopback } from '../../network/evaluate.ts';
import { declareServerCheck } from '../check.ts';
import { evaluateLogin, failedLoginOutcome, loginFailedReason } from '../login.ts';
import type { PostgresqlFacts } from '../source-facts.ts';

export const tlsNegotiateCheck = declareServerCheck({
  id: 'tls-negotiate',
  title: 'the connection uses TLS',
  headline: 'The connection does not use TLS',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: 'S9.3',
  needs: 'address',
  queries: {},
  evaluate(_values, facts, options) {
    return evaluateLogin(
      facts,
      'tls-negotiate',
      () => (options.disableSsl ? unencrypted(facts) : passOutcome(facts.tls.version ?? 'TLS')),
      (why) =>
        failedLoginOutcome(
          why,
          why.code === clientErrorCodes.noTls ? withoutTls(facts) : handshakeFailure(why.message),
        ),
    );
  },
});

/** Although --disable-ssl was requested, a connection over a network without encryption gets a warning. */
function unencrypted({ address, tls }: PostgresqlFacts): CheckOutcome {
  if (usesLoopback(address)) return passOutcome('no TLS, as requested; the connection is local to this machine');
  const text =
    tls.offered === 'yes'
      ? 'Remove --disable-ssl: the server offers TLS.'
      : "Set ssl = 'on' on the server (needs a certificate and a reload), then remove --disable-ssl.";
  return warnOutcome('no TLS, as requested', {
    required: 'TLS',
    detail: 'Without TLS, rows and passwords cross the network unencrypted.',
    fix: { text: text },
  });
}

function withoutTls({ tls }: PostgresqlFacts) {
  const open = tls.plaintext === 'accepted' ? ' The server accepts the login without TLS.' : '';
  return {
    required: "ssl = 'on', or disable_ssl",
    detail: `The migration requests TLS and would fail with the same error.${open}`,
    fix: {
      notSimulated: loginFailedReason,
      shell: [
        '# as the owner of the data directory, inside it, unless server.crt and server.key exist:',
        "openssl req -new -x509 -days 365 -nodes -subj '/CN=postgresql' -out server.crt -keyout server.key && chmod 600 server.key",
        // PostgreSQL does not start again with ssl = on and without the files server.crt and server.key.
        `test -s server.crt && test -s server.key && psql -X -c "ALTER SYSTEM SET ssl = 'on'"`,
      ],
      undoShell: [`psql -X -c "ALTER SYSTEM SET ssl = 'off'"`],
      reload: true,
      text: 'Install a certificate on the server and set ssl = on (a reload since PostgreSQL 10), or migrate with --disable-ssl, which sends every row unencrypted.',
    },
  };
}

/** An error about the certificate comes from the verification in this program; a TLS alert comes from the server. */
function handshakeFailure(message: string) {
  return /certificate|cert's|issuer/i.test(message) && !/alert/.test(message) ? unverified : brokenTls;
}

const unverified = {
  required: 'a certificate that passes the requested verification',
  detail:
    'The server uses TLS, but its certificate fails the verification requested by sslmode=verify-ca, verify-full or --ca-file. The service encrypts without verification, so this concerns only the connection from this machine.',
  fix: {
    text: 'Provide the CA certificate (--ca-file) and the host name of the certificate, or renew an expired certificate; sslmode=require encrypts without verification.',
  },
};

const brokenTls = {
  required: 'a complete TLS handshake',
  detail: 'The server offers TLS but the handshake fails; the handshake with the service would fail too.',
  fix: {
    text: 'Check the certificate and its key, ssl_min_protocol_version and ssl_max_protocol_version (TLSv1.2 or newer is needed) and ssl_ciphers.',
  },
};
