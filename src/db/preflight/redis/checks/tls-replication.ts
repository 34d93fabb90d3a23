import { infoOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareRedisCheck } from '../check.ts';
import { tlsPortQuery, tlsReplicationQuery } from '../queries.ts';

export const tlsReplicationCheck = declareRedisCheck({
  id: 'tls-replication',
  title: 'replication uses TLS when the server supports it',
  headline: 'Replication does not use TLS although the server supports it',
  severity: { continuous: 'warning', scan: 'warning' },
  queries: { port: tlsPortQuery, replication: tlsReplicationQuery },
  evaluate({ port, replication }, facts) {
    if (facts.ssl) {
      return replication.get('tls-replication') === 'no'
        ? infoOutcome('TLS; tls-replication no', {
            detail: 'The target connects with TLS; only the link of the source to its own primary does not use TLS.',
          })
        : passOutcome('TLS');
    }
    const tlsPort = Number(port.get('tls-port') ?? 0);
    if (tlsPort === 0) return passOutcome('the server has no tls-port');
    return warnOutcome(`tls-port ${tlsPort}, and port ${facts.port} is used without TLS`, {
      required: 'TLS, because the server supports it',
      detail: 'The password and the data are sent without encryption although the server supports it.',
      fix: { text: `Write rediss:// and port ${tlsPort}.` },
    });
  },
});
