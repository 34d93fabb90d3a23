import { passOutcome, warnOutcome } from '../../finding.ts';
import { usesLoopback } from '../../network/evaluate.ts';
import { declareRedisCheck } from '../check.ts';

/** AUTH always contains the password in clear text, so only an encrypted connection protects it. */
export const authCleartextCheck = declareRedisCheck({
  id: 'auth-cleartext',
  title: 'the password is sent over an encrypted connection only',
  headline: 'The password was sent over a connection without TLS',
  severity: { continuous: 'warning', scan: 'warning' },
  queries: {},
  evaluate(_values, { connection, address, ssl }) {
    if (connection.kind !== 'connected' || connection.auth === 'open') return passOutcome('no password was sent');
    if (ssl) return passOutcome('over TLS');
    if (usesLoopback(address)) return passOutcome('on this machine');
    return warnOutcome('without TLS', {
      required: 'TLS',
      detail:
        'AUTH holds the password in clear text: anyone on the network path can read the password, and the service sends it in the same way.',
      fix: {
        text: 'Configure a tls-port on the server (6.0 and later) and write rediss://, then change the password.',
      },
    });
  },
});
