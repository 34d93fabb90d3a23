import { pass, info as tell, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { tlsPortConfigQuery, tlsReplicationConfigQuery } from '../queries/config.ts';

export const tlsReplicationCheck = redisCheck({
  id: 'tls-replication',
  title: 'the stream runs over TLS if the server can',
  needs: 'entry',
  mayBlock: [],
  queries: { port: tlsPortConfigQuery, own: tlsReplicationConfigQuery },
  evaluate({ port, own }, ground) {
    const tls = Number(port.get('tls-port') ?? 0);
    if (ground.ssl) {
      return own.get('tls-replication') === 'no'
        ? tell('TLS; tls-replication no', {
            detail: 'The target is served over TLS; only the links of the source to a primary of its own are not.',
          })
        : pass('TLS');
    }
    if (tls === 0) return pass('the server has no tls-port');
    return warn(`tls-port ${tls}, and port ${ground.port} is used without TLS`, {
      required: 'TLS, as the server has it',
      detail: 'Password and data would go over the network in clear although the server could encrypt them.',
      fix: { text: `Write rediss:// and port ${tls}.` },
    });
  },
});
