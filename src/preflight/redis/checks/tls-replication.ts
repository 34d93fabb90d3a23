import { info as infoOutcome, pass, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { tlsPortConfigQuery, tlsReplicationConfigQuery } from '../queries/config.ts';

export const tlsReplicationCheck = redisCheck({
  id: 'tls-replication',
  title: 'replication uses TLS when the server supports it',
  headline: 'Replication does not use TLS although the server supports it',
  needs: 'connection',
  severity: { continuous: 'warning', scan: 'warning' },
  queries: { port: tlsPortConfigQuery, replication: tlsReplicationConfigQuery },
  evaluate({ port, replication }, facts) {
    if (facts.ssl) {
      return replication.get('tls-replication') === 'no'
        ? infoOutcome('TLS; tls-replication no', {
            detail: 'The target connects with TLS; only the link of the source to its own primary does not use TLS.',
          })
        : pass('TLS');
    }
    const tlsPort = Number(port.get('tls-port') ?? 0);
    if (tlsPort === 0) return pass('the server has no tls-port');
    return warn(`tls-port ${tlsPort}, and port ${facts.port} is used without TLS`, {
      required: 'TLS, because the server supports it',
      detail: 'The password and the data are sent without encryption although the server supports it.',
      fix: { text: `Write rediss:// and port ${tlsPort}.` },
    });
  },
});
