import { connectErrorCodes } from '../../../platform/connect-error.ts';
import { type CheckOutcome, pass, warn } from '../../finding.ts';
import { isConnectedOverLoopback } from '../../network/evaluate-host.ts';
import { serverCheck } from '../check.ts';
import { evaluateLoginStep, failLogin } from '../login-steps.ts';
import type { PostgresqlSourceFacts } from '../source-facts.ts';

export const tlsNegotiateCheck = serverCheck({
  id: 'tls-negotiate',
  title: 'the connection uses TLS',
  headline: 'The connection does not use TLS',
  severity: { continuous: 'blocker', dump: 'blocker' },
  spec: '2',
  needs: 'address',
  queries: {},
  evaluate(_values, facts, options) {
    return evaluateLoginStep(
      facts,
      'tls-negotiate',
      () => (options.disableSsl ? unencrypted(facts) : pass(facts.tls.version ?? 'TLS')),
      (why) => failLogin(why, why.code === connectErrorCodes.noTls ? withoutTls(facts) : broken(why.message)),
    );
  },
});

/** It was asked for; on the way through a network it is still a loss worth a word. */
function unencrypted({ address, tls }: PostgresqlSourceFacts): CheckOutcome {
  if (isConnectedOverLoopback(address)) return pass('no TLS, as asked; the connection does not leave this machine');
  const cure =
    tls.offered === 'yes'
      ? 'The server offers TLS: leave --disable-ssl out.'
      : "Set ssl = 'on' on the server (needs a certificate and a reload), then leave --disable-ssl out.";
  return warn('no TLS, as asked', {
    required: 'TLS',
    detail: 'All rows cross the network in the clear, and so does whatever the server asks for as a password.',
    fix: { text: cure },
  });
}

function withoutTls({ tls }: PostgresqlSourceFacts) {
  const open = tls.plaintext === 'accepted' ? ' The server would take this login without TLS.' : '';
  return {
    required: "ssl = 'on', or disable_ssl",
    detail: `The migration is asked for with TLS and would end with these words.${open}`,
    fix: {
      sql: ["ALTER SYSTEM SET ssl = 'on'"],
      undo: ["ALTER SYSTEM SET ssl = 'off'"],
      shell: [
        '# as the owner of the data directory, inside it, unless server.crt and server.key are there already:',
        "openssl req -new -x509 -days 365 -nodes -subj '/CN=postgresql' -out server.crt -keyout server.key && chmod 600 server.key",
      ],
      reload: true,
      text: 'Give the server a certificate and turn ssl on (a reload since PostgreSQL 10), or migrate with --disable-ssl, which sends every row unencrypted.',
    },
  };
}

/** What the certificate does not stand up to is our own verification; what an alert says is the server's refusal. */
function broken(message: string) {
  return /certificate|cert's|issuer/i.test(message) && !/alert/.test(message) ? unverified : brokenTls;
}

const unverified = {
  required: 'a certificate that passes the verification asked for',
  detail:
    'The server speaks TLS, and its certificate does not pass what sslmode=verify-ca, verify-full or --ca-file ask for. The service encrypts and does not verify, so this is about who answers here.',
  fix: {
    text: 'Give the certificate that signed it (--ca-file) and the host name that stands in it, or renew it when it has expired; sslmode=require encrypts without asking who answers.',
  },
};

const brokenTls = {
  required: 'a finished TLS handshake',
  detail: 'The server offers TLS and the handshake fails; the service would fail in the same place.',
  fix: {
    text: 'Check the certificate and its key, ssl_min_protocol_version and ssl_max_protocol_version (TLSv1.2 or newer is spoken) and ssl_ciphers.',
  },
};
