import { clientErrorCodes, tlsHandshakeClosed } from '../../../../platform/network-errors.ts';
import { certificateRequiredText } from '../../../../redis/command-error.ts';
import { unansweredHandshake } from '../../../../redis/redis-socket.ts';
import {
  type CheckOutcome,
  failOutcome,
  infoOutcome,
  passOutcome,
  skipOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { usesLoopback } from '../../network/evaluate.ts';
import type { PreflightOptions } from '../../options.ts';
import { declareRedisCheck, redisMethods } from '../check.ts';
import type { RedisSourceFacts } from '../source.ts';

export const redisTlsCheck = declareRedisCheck({
  id: 'redis-tls',
  title: 'the TLS setting matches the server, and its certificate is valid',
  headline: 'The TLS handshake with the server fails',
  needs: 'address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {},
  evaluate(_values, facts, options) {
    const { connection } = facts;
    if (connection.kind === 'refused' && connection.phase === 'network') {
      return skipOutcome(`no connection: ${connection.message}`);
    }
    if (connection.kind === 'refused' && connection.code === clientErrorCodes.onlyTls) return tlsRequired(facts);
    if (!facts.ssl) return withoutTls(facts, options);
    if (connection.kind === 'refused' && connection.phase === 'tls') return handshakeFailed(connection);
    return evaluateCertificate(facts, options);
  },
});

function tlsRequired({ port }: RedisSourceFacts): CheckOutcome {
  return failOutcome(redisMethods, `TLS on port ${port}`, {
    headline: 'The server requires TLS',
    required: 'redis:// for a server without TLS',
    detail:
      'The server closes a connection that does not begin with a TLS handshake: `Error reading reply from master: Connection reset by peer`.',
    fix: { text: 'Write rediss:// instead of redis://, or omit --disable-ssl.' },
  });
}

function withoutTls({ connection, address }: RedisSourceFacts, { isOverInternet }: PreflightOptions): CheckOutcome {
  if (connection.kind === 'refused' || !isOverInternet || usesLoopback(address)) {
    return passOutcome('not encrypted, as requested');
  }
  return warnOutcome('not encrypted', {
    headline: 'The connection is not encrypted',
    required: 'TLS over a public network',
    detail: 'The password and every key are sent over the internet without encryption.',
    fix: {
      text: 'Configure a tls-port on the server (6.0 and later) and write rediss://, or migrate through a tunnel.',
    },
  });
}

function handshakeFailed({ code, message }: { readonly code: string; readonly message: string }): CheckOutcome {
  if (code === clientErrorCodes.noTls) {
    return failOutcome(redisMethods, message, {
      required: 'a port with TLS',
      detail: 'The handshake fails with `wrong version number`, or never ends.',
      fix: { text: 'Give the tls-port of the server, or turn TLS off with --disable-ssl or redis://.' },
    });
  }
  if (message === tlsHandshakeClosed) return handshakeClosed(message);
  if (message === unansweredHandshake) return handshakeTimeout(message);
  if (message === certificateRequiredText) {
    return failOutcome(redisMethods, message, {
      required: 'a TLS handshake that succeeds',
      detail: 'A migration request has no field for a client certificate.',
      fix: {
        notSimulated: 'the handshake failed, so nothing else was checked',
        shell: ['redis-cli --tls --cert CLIENT.pem --key CLIENT.key CONFIG SET tls-auth-clients optional'],
        undoShell: ['redis-cli --tls CONFIG SET tls-auth-clients yes'],
        text: 'Allow clients without a certificate for the time of the migration (tls-auth-clients optional).',
      },
    });
  }
  return failOutcome(redisMethods, message, {
    required: 'a TLS handshake that succeeds',
    detail:
      'The migration connects to the same server, so a handshake that fails for this program may fail for the migration.',
    fix: { text: 'Correct the certificate or the --ca-file.' },
  });
}

function handshakeTimeout(observed: string): CheckOutcome {
  return failOutcome(redisMethods, observed, {
    required: 'a TLS handshake that succeeds',
    detail:
      'The connection is accepted and no reply arrives: a server that hangs, another service on this port, or a firewall that accepts TCP only.',
    fix: { text: 'Give the tls-port of the server; openssl s_client -connect HOST:PORT must show a certificate.' },
  });
}

/** Before the TLS handshake has ended, a server cannot send an error message. */
function handshakeClosed(observed: string): CheckOutcome {
  return failOutcome(redisMethods, observed, {
    required: 'a TLS handshake that succeeds',
    detail:
      'The server closes the connection without a message when no connection is free (maxclients) or when both sides have no TLS version in common; so does a proxy without a server behind it.',
    fix: {
      text: 'Compare connected_clients and maxclients in INFO clients on the server: end idle clients, or raise maxclients with CONFIG SET. If connections are free, the server log has the reason.',
    },
  });
}

function evaluateCertificate({ tls }: RedisSourceFacts, { now }: PreflightOptions): CheckOutcome {
  const { certificate, version } = tls;
  if (certificate === undefined)
    return infoOutcome(version ?? 'TLS', {
      headline: 'The server sent no certificate',
      detail: 'The server sent no certificate.',
    });
  const left = (certificate.validTo - now) / 86_400_000;
  const days = Math.floor(left);
  const name = `${version ?? 'TLS'}, ${certificate.subject}`;
  if (left < 0) return expired(`${name}, expired ${Math.floor(-left)} days ago`);
  const observed = `${name}, valid for ${days} days`;
  if (days >= 14)
    return tls.isPubliclyTrusted === false ? privateAuthority(observed, certificate.issuer) : passOutcome(observed);
  return warnOutcome(observed, {
    headline: 'The certificate expires within two weeks',
    required: 'a certificate that is valid for the whole migration, which may take two weeks',
    detail: 'If the certificate expires during the migration, the replica cannot reconnect.',
    fix: { text: 'Renew the certificate before the migration starts.' },
  });
}

/**
 * A replica verifies the certificate chain with the authorities of its machine or of tls-ca-cert-file; a migration
 * request cannot contain a CA certificate.
 */
function privateAuthority(observed: string, issuer: string): CheckOutcome {
  return {
    ...unknownOutcome(`${observed}, issued by ${issuer}`, {
      text: 'Use a certificate of a public authority, or make sure that tls-ca-cert-file of the target contains the authority of the certificate.',
    }),
    headline: 'It is not known whether the target trusts the authority of the certificate',
    premise: 'the target trusts the authority of the certificate',
    settledBy: '--accept redis-tls',
    detail:
      'A replica that does not trust the authority of the certificate fails with `certificate verify failed`, and the link stays down. A migration request has no field for a CA certificate.',
  };
}

/** A replica always verifies the validity period of the certificate. */
function expired(observed: string): CheckOutcome {
  return failOutcome(['continuous'], observed, {
    headline: 'The certificate has expired',
    required: 'a certificate that is valid',
    detail:
      'A replica verifies the certificate of its primary: `certificate verify failed`, and the link stays down. Clients that do not verify the certificate can still connect.',
    fix: {
      text: 'Renew the certificate; CONFIG SET tls-cert-file with the path of the new certificate loads it without a restart.',
    },
  });
}
