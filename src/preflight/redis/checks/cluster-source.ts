import { type Info, numberIn } from '../../../redis/info.ts';
import { fail, type Outcome, pass } from '../../finding.ts';
import { known, maybe } from '../ask.ts';
import { readsWhenDown } from '../asks/config.ts';
import { info } from '../asks/info.ts';
import { clusterInfo } from '../asks/server.ts';
import { check, every } from '../check.ts';
import { unanswered } from '../findings.ts';
import { administrator } from '../fixes.ts';

export const clusterSource = check({
  id: 'cluster-source',
  title: 'the source is one server, not a shard of a cluster',
  needs: 'entry',
  mayBlock: every,
  asks: { server: maybe(info), cluster: maybe(clusterInfo), reads: maybe(readsWhenDown) },
  judge({ server, cluster, reads }) {
    // Who is denied one of the two may be allowed the other.
    const isCluster =
      server.kind === 'known'
        ? server.value.get('cluster_enabled') === '1' || server.value.get('redis_mode') === 'cluster'
        : cluster.kind === 'known';
    if (!isCluster) {
      const isAlone = cluster.kind === 'failed' && /support disabled/.test(cluster.reason);
      return server.kind === 'known' || isAlone ? pass('not in cluster mode') : unanswered(server);
    }
    const state = known(cluster, new Map<string, string>());
    const readable = known(reads, new Map<string, string>()).get('cluster-allow-reads-when-down') === 'yes';
    if (state.get('cluster_state') === 'fail' && !readable) return down(state);
    const shards = numberIn(state, 'cluster_size');
    return fail(['continuous'], shards === undefined ? 'cluster mode' : `cluster mode, shards with slots: ${shards}`, {
      required: 'a server without cluster mode',
      detail:
        'The target attaches to this one shard and says it is up; the keys of every other shard are lost without a word, as are those a later resharding moves away.',
      fix: { text: 'Take the keys shard by shard: SCAN, DUMP and RESTORE on every primary of CLUSTER NODES.' },
    });
  },
});

/** Then nobody reads a key, not even one that is here. */
function down(state: Info): Outcome {
  const served = state.get('cluster_slots_ok') ?? '?';
  return fail(every, `cluster mode, cluster_state:fail, ${served} of 16384 slots served`, {
    required: 'cluster_state:ok, and shard by shard',
    detail:
      'Slots are not assigned or a shard is away: every read is refused with `CLUSTERDOWN The cluster is down`, so that a scan is too.',
    fix: {
      shell: ['redis-cli --cluster check HOST:PORT'],
      by: administrator,
      text: 'Bring the missing shard back, or give its slots to the others (redis-cli --cluster fix); then take the keys shard by shard. cluster-allow-reads-when-down yes (6.0 and later) lets the keys that are here be read.',
    },
  });
}
