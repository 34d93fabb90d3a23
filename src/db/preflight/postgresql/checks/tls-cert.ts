import { type CheckOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';

export const tlsCertCheck = declareServerCheck({
  id: 'tls-cert',
  title: 'the server certificate is valid for two more weeks',
  headline: 'The server certificate expires within two weeks',
  severity: { continuous: 'warning', dump: 'warning' },
  spec: 'S9.8',
  needs: 'address',
  queries: {},
  evaluate(_values, { tls: { certificate } }, { disableSsl, now }): CheckOutcome {
    if (disableSsl) return skipOutcome('TLS is not used');
    if (certificate === undefined) return skipOutcome('no certificate was received');
    const until = new Date(certificate.validTo).toISOString().slice(0, 10);
    const left = certificate.validTo - now;
    const signed = certificate.selfSigned ? ', self-signed' : '';
    if (left >= window) return passOutcome(`valid until ${until}${signed}`);
    return warnOutcome(`${left < 0 ? 'expired on' : 'valid until'} ${until}${signed}`, {
      required: `valid until ${new Date(now + window).toISOString().slice(0, 10)}`,
      detail:
        'A migration can take two weeks and reconnects after every lost connection. After the certificate expires, clients that verify it cannot connect.',
      objects: [certificate.subject],
      fix: {
        text: 'Renew the certificate (ssl_cert_file), then run SELECT pg_catalog.pg_reload_conf(); no restart is needed.',
        reload: true,
      },
    });
  },
});

const day = 86_400_000;

/** The maximum duration of a migration (docs/service.md S9.8). */
const window = 14 * day;
