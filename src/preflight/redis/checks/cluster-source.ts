import { infoNumber, type RedisInfo } from '../../../redis/info.ts';
import { type CheckOutcome, fail, pass, warn } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { redisAdministrator } from '../fixes.ts';
import { clusterReadsConfigQuery } from '../queries/config.ts';
import { infoQuery } from '../queries/info.ts';
import { type ClusterNodes, clusterInfoQuery, clusterNodesQuery } from '../queries/server.ts';
import { optionalQuery, resultOr } from '../query.ts';

export const clusterSourceCheck = redisCheck({
  id: 'cluster-source',
  title: 'the source has all the keys, and is no shard among others',
  needs: 'entry',
  mayBlock: redisMethods,
  queries: {
    server: optionalQuery(infoQuery),
    cluster: optionalQuery(clusterInfoQuery),
    nodes: optionalQuery(clusterNodesQuery),
    reads: optionalQuery(clusterReadsConfigQuery),
  },
  evaluate({ server, cluster, nodes, reads }) {
    // Who is denied one of the two may be allowed the other.
    const isCluster =
      server.kind === 'known'
        ? server.value.get('cluster_enabled') === '1' || server.value.get('redis_mode') === 'cluster'
        : cluster.kind === 'known';
    if (!isCluster) {
      const isAlone = cluster.kind === 'failed' && /support disabled/.test(cluster.reason);
      return server.kind === 'known' || isAlone ? pass('not in cluster mode') : unansweredOutcome(server);
    }
    const state = resultOr(cluster, new Map<string, string>());
    const readable = resultOr(reads, new Map<string, string>()).get('cluster-allow-reads-when-down') === 'yes';
    if (state.get('cluster_state') === 'fail' && !readable) return down(state);
    const shards = infoNumber(state, 'cluster_size');
    if (shards === 1 && infoNumber(state, 'cluster_slots_assigned') === allSlots) {
      if (nodes.kind !== 'known') return unansweredOutcome(nodes);
      if (nodes.value.moving.length > 0) return moving(nodes.value.moving);
      if (nodes.value.isPrimary) return alone(nodes.value);
    }
    return fail(['continuous'], shards === undefined ? 'cluster mode' : `cluster mode, shards with slots: ${shards}`, {
      required: 'a server without cluster mode',
      detail:
        'The target attaches to this one shard and says it is up; the keys of every other shard are lost without a word, as are those a later resharding moves away.',
      fix: { text: 'Take the keys shard by shard: SCAN, DUMP and RESTORE on every primary of CLUSTER NODES.' },
    });
  },
});

const allSlots = 16_384;

/** All keys are here, and it is followed like any other server. What a cluster may do to it later is another matter. */
function alone({ primaries }: ClusterNodes): CheckOutcome {
  const others = primaries - 1;
  return warn(
    `cluster mode, one shard with all slots${others > 0 ? `, ${others} ${others > 1 ? 'primaries' : 'primary'} without any` : ''}`,
    {
      required: 'a server without cluster mode, or no resharding until the migration is over',
      detail:
        'The target follows this shard, which has every key. Slots that are given to another shard meanwhile take their keys away from both, without an error; after a failover the target follows a replica. The target is no cluster: clients that expect one (CLUSTER SLOTS) have to be told.',
      fix: {
        text: 'Add no shard and move no slot while the migration runs, and set up the clients for a server without cluster mode.',
      },
    },
  );
}

function moving(slots: readonly string[]): CheckOutcome {
  return fail(
    redisMethods,
    `cluster mode, moving slots: ${slots.slice(0, 5).join(', ')}${slots.length > 5 ? ` and ${slots.length - 5} more` : ''}`,
    {
      required: 'slots that stay',
      detail:
        'Each key that moves to another shard is deleted here and, by the stream, on the target. A scan is answered with ASK or MOVED for those that have gone, by both shards.',
      fix: {
        shell: ['redis-cli --cluster check HOST:PORT'],
        by: redisAdministrator,
        text: 'Let the resharding end, or take it back (CLUSTER SETSLOT SLOT STABLE on both shards).',
      },
    },
  );
}

/** Then nobody reads a key, not even one that is here. */
function down(state: RedisInfo): CheckOutcome {
  const served = state.get('cluster_slots_ok') ?? '?';
  return fail(redisMethods, `cluster mode, cluster_state:fail, ${served} of 16384 slots served`, {
    required: 'cluster_state:ok, and shard by shard',
    detail:
      'Slots are not assigned or a shard is away: every read is refused with `CLUSTERDOWN The cluster is down`, so that a scan is too.',
    fix: {
      shell: ['redis-cli --cluster check HOST:PORT'],
      by: redisAdministrator,
      text: 'Bring the missing shard back, or give its slots to the others (redis-cli --cluster fix); then take the keys shard by shard. cluster-allow-reads-when-down yes (6.0 and later) lets the keys that are here be read.',
    },
  });
}
