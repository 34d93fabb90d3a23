import { numberIn } from '../../../redis/info.ts';
import { fail, pass } from '../../finding.ts';
import { known, maybe } from '../ask.ts';
import { info } from '../asks/info.ts';
import { clusterInfo } from '../asks/server.ts';
import { check } from '../check.ts';
import { unanswered } from '../findings.ts';

export const clusterSource = check({
  id: 'cluster-source',
  title: 'the source is one server, not a shard of a cluster',
  needs: 'entry',
  mayBlock: ['continuous'],
  asks: { server: maybe(info), cluster: maybe(clusterInfo) },
  judge({ server, cluster }) {
    // Who is denied one of the two may be allowed the other.
    const isCluster =
      server.kind === 'known'
        ? server.value.get('cluster_enabled') === '1' || server.value.get('redis_mode') === 'cluster'
        : cluster.kind === 'known';
    if (!isCluster) {
      const isAlone = cluster.kind === 'failed' && /support disabled/.test(cluster.reason);
      return server.kind === 'known' || isAlone ? pass('not in cluster mode') : unanswered(server);
    }
    const shards = numberIn(known(cluster, new Map<string, string>()), 'cluster_size');
    return fail(['continuous'], shards === undefined ? 'cluster mode' : `cluster mode, shards with slots: ${shards}`, {
      required: 'a server without cluster mode',
      detail:
        'The target attaches to this one shard and says it is up; the keys of every other shard are lost without a word, as are those a later resharding moves away.',
      fix: { text: 'Take the keys shard by shard: SCAN, DUMP and RESTORE on every primary of CLUSTER NODES.' },
    });
  },
});
