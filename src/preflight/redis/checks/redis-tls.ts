import { connectErrorCodes } from '../../../platform/connect-error.ts';
import { type CheckOutcome, fail, info, pass, skip, warn } from '../../finding.ts';
import { isConnectedOverLoopback } from '../../network/evaluate-host.ts';
import type { PreflightOptions } from '../../preflight-options.ts';
import { redisCheck, redisMethods } from '../check.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const redisTlsCheck = redisCheck({
  id: 'redis-tls',
  title: 'server and migration agree on TLS',
  needs: 'address',
  mayBlock: redisMethods,
  queries: {},
  evaluate(_values, ground, wish) {
    const { connection: entry } = ground;
    if (entry.kind === 'refused' && entry.phase === 'network') return skip(`no connection: ${entry.message}`);
    if (entry.kind === 'refused' && entry.code === connectErrorCodes.onlyTls) return onlyTls(ground);
    if (!ground.ssl) return plain(ground, wish);
    if (entry.kind === 'refused' && entry.phase === 'tls') return failed(entry);
    return judgeCertificate(ground, wish);
  },
});

function onlyTls({ port }: RedisSourceFacts): CheckOutcome {
  return fail(redisMethods, `TLS on port ${port}`, {
    required: 'redis:// for a server without TLS',
    detail:
      'The server closes a connection that does not begin with a TLS handshake: `Error reading reply from master: Connection reset by peer`.',
    fix: { text: 'Write rediss://, or leave --disable-ssl out.' },
  });
}

function plain(ground: RedisSourceFacts, wish: PreflightOptions): CheckOutcome {
  if (ground.connection.kind === 'refused') return pass('not encrypted, as asked for');
  if (!wish.asPublic || isConnectedOverLoopback(ground.address)) return pass('not encrypted, as asked for');
  return warn('not encrypted', {
    required: 'TLS over a public network',
    detail: 'The password and every key travel the internet in clear.',
    fix: {
      text: 'Give the server a tls-port (6.0 and later) and write rediss://, or let the migration run through a tunnel.',
    },
  });
}

function failed(entry: { readonly code: string; readonly message: string }): CheckOutcome {
  if (entry.code === connectErrorCodes.noTls) {
    return fail(redisMethods, entry.message, {
      required: 'a port that speaks TLS',
      detail: 'The handshake ends with `wrong version number`, or never.',
      fix: { text: 'Give the tls-port of the server, or say disable_ssl: --disable-ssl, or redis:// as the scheme.' },
    });
  }
  if (entry.message.includes('was closed during the TLS handshake')) return hungUp(entry.message);
  if (entry.message.includes('no answer to the TLS handshake')) return silent(entry.message);
  const wantsClient = entry.message.includes('tls-auth-clients');
  return fail(redisMethods, entry.message, {
    required: 'a TLS handshake that succeeds',
    detail: wantsClient
      ? 'The request of a migration has no place for a client certificate.'
      : 'A migration meets the same server; what fails here may fail there.',
    fix: wantsClient
      ? {
          shell: ['redis-cli --tls --cert CLIENT.pem --key CLIENT.key CONFIG SET tls-auth-clients optional'],
          undoShell: ['redis-cli --tls CONFIG SET tls-auth-clients yes'],
          text: 'Let clients in without a certificate for the time of the migration (tls-auth-clients optional).',
        }
      : { text: 'Correct the certificate or the --ca-file.' },
  });
}

function silent(observed: string): CheckOutcome {
  return fail(redisMethods, observed, {
    required: 'a TLS handshake that succeeds',
    detail:
      'The connection is taken and nothing is said: a hung server, another service on this port that waits for its own greeting, or a firewall that lets TCP alone pass.',
    fix: { text: 'Give the tls-port of the server; openssl s_client -connect HOST:PORT must show a certificate.' },
  });
}

/** Before the handshake a server has no way to say why. */
function hungUp(observed: string): CheckOutcome {
  return fail(redisMethods, observed, {
    required: 'a TLS handshake that succeeds',
    detail:
      'A server whose connections are all taken (maxclients) hangs up here without a word; so does a proxy without a server behind it, and a version of TLS that one side does not speak.',
    fix: {
      text: 'On the server, INFO clients shows connected_clients beside maxclients: end idle clients, or CONFIG SET maxclients higher. If there is room, its log names what it refused.',
    },
  });
}

function judgeCertificate({ tls }: RedisSourceFacts, wish: PreflightOptions): CheckOutcome {
  const { certificate, version } = tls;
  if (certificate === undefined) return info(version ?? 'TLS', { detail: 'The server showed no certificate.' });
  const left = (certificate.validTo - wish.now) / 86_400_000;
  const days = Math.floor(left);
  const name = `${version ?? 'TLS'}, ${certificate.subject}`;
  if (left < 0) return expired(`${name}, expired ${Math.floor(-left)} days ago`);
  const observed = `${name}, valid for ${days} days`;
  if (days >= 14) return pass(observed);
  return warn(observed, {
    required: 'a certificate that outlives the migration, which may take two weeks',
    detail: 'When it expires, the next reconnect of the replica fails in the middle of the migration.',
    fix: { text: 'Renew the certificate before the migration starts.' },
  });
}

/** Whoever follows verifies the date, and has no setting to look away. */
function expired(observed: string): CheckOutcome {
  return fail(['continuous'], observed, {
    required: 'a certificate that is valid',
    detail:
      'A replica verifies the certificate of its primary: `certificate verify failed`, and the link stays down. Clients that verify nothing still get in.',
    fix: {
      text: 'Renew the certificate; CONFIG SET tls-cert-file with the path of the new one loads it without a restart.',
    },
  });
}
