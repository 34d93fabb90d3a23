import { type InfoFields, infoNumber } from '../../../../redis/info.ts';
import { type CheckOutcome, failOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, valueOr } from '../../query.ts';
import { declareRedisCheck, outcomeWithoutValue, redisAdministrator, redisMethods } from '../check.ts';
import {
  type ClusterInfoField,
  type ClusterSummary,
  clusterInfoQuery,
  clusterNodesQuery,
  clusterReadsQuery,
  infoQuery,
} from '../queries.ts';

export const clusterSourceCheck = declareRedisCheck({
  id: 'cluster-source',
  title: 'the source is not a Redis Cluster node',
  headline: 'The source is a Redis Cluster node',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    info: markOptional(infoQuery),
    cluster: markOptional(clusterInfoQuery),
    nodes: markOptional(clusterNodesQuery),
    reads: markOptional(clusterReadsQuery),
  },
  evaluate({ info, cluster, nodes, reads }) {
    // The check uses CLUSTER INFO, because a user who may not run INFO may still run CLUSTER INFO.
    const isCluster =
      info.kind === 'known'
        ? info.value.get('cluster_enabled') === '1' || info.value.get('redis_mode') === 'cluster'
        : cluster.kind === 'known';
    if (!isCluster) {
      const isDisabled = cluster.kind === 'failed' && /support disabled/.test(cluster.reason);
      return info.kind === 'known' || isDisabled ? passOutcome('not in cluster mode') : outcomeWithoutValue(info);
    }
    const state: InfoFields<ClusterInfoField> = valueOr(cluster, new Map<string, string>());
    const isReadable = valueOr(reads, undefined)?.get('cluster-allow-reads-when-down') === 'yes';
    if (state.get('cluster_state') === 'fail' && !isReadable) return clusterDown(state);
    const shards = infoNumber(state, 'cluster_size');
    if (shards === 1 && infoNumber(state, 'cluster_slots_assigned') === slotCount) {
      if (nodes.kind !== 'known') return outcomeWithoutValue(nodes);
      if (nodes.value.moving.length > 0) return slotsMoving(nodes.value.moving);
      return nodes.value.isPrimary ? singleShard(nodes.value) : replicaOfSingleShard();
    }
    return failOutcome(
      ['continuous'],
      shards === undefined ? 'cluster mode' : `cluster mode, shards with slots: ${shards}`,
      {
        required: 'a server without cluster mode',
        detail:
          'The target follows this shard only, and its link is up. The keys of every other shard are lost without an error, and so are keys that a later resharding moves away.',
        fix: { text: 'Copy the keys shard by shard: SCAN, DUMP and RESTORE on every primary of CLUSTER NODES.' },
      },
    );
  },
});

const slotCount = 16_384;

/** A shard that has all keys can be replicated like a server without cluster mode, as long as no slot moves. */
function singleShard({ primaries }: ClusterSummary): CheckOutcome {
  const others = primaries - 1;
  return warnOutcome(
    `cluster mode, one shard with all slots${others > 0 ? `, ${others} ${others > 1 ? 'primaries' : 'primary'} without any` : ''}`,
    {
      required: 'a server without cluster mode, or no resharding until the migration has ended',
      detail:
        'The target follows this shard, which has every key. Slots that move to another shard take their keys away from both, without an error; after a failover the target follows a replica. The target is not a cluster: clients that send CLUSTER SLOTS must be configured for it.',
      fix: {
        text: 'Add no shard and move no slot while the migration runs, and configure the clients for a server without cluster mode.',
      },
    },
  );
}

/** Only a primary lists the slots that it gives away. */
function replicaOfSingleShard(): CheckOutcome {
  return {
    ...unknownOutcome('cluster mode, a replica of the one shard with all slots', {
      text: 'Use the primary of the shard as the source (CLUSTER NODES), or make sure that no slot moves to another shard until the migration has ended.',
    }),
    headline: 'Whether slots are moving is not known',
    premise: 'no slot of the cluster moves to another shard',
    settledBy: 'the primary of the shard as --source, or --accept cluster-source',
    required: 'a server without cluster mode, or the primary of the only shard',
    detail:
      'Replication from this node works, and it has every key; a scan must read the primary, because a replica answers with MOVED. Keys of a slot that moves to another shard are deleted here and on the target.',
  };
}

function slotsMoving(slots: readonly string[]): CheckOutcome {
  return failOutcome(
    redisMethods,
    `cluster mode, moving slots: ${slots.slice(0, 5).join(', ')}${slots.length > 5 ? ` and ${slots.length - 5} more` : ''}`,
    {
      required: 'no moving slots',
      detail:
        'Each key that moves to another shard is deleted here and, through the stream, on the target. A scan receives ASK or MOVED for such keys from both shards.',
      fix: {
        shell: ['redis-cli --cluster check HOST:PORT'],
        notSimulated: 'the command changes nothing',
        by: redisAdministrator,
        text: 'Wait until the resharding has ended, or undo it (CLUSTER SETSLOT SLOT STABLE on both shards).',
      },
    },
  );
}

/** In this state of the cluster no key can be read, not even the keys of this shard. */
function clusterDown(state: InfoFields<ClusterInfoField>): CheckOutcome {
  const served = state.get('cluster_slots_ok') ?? '?';
  return failOutcome(redisMethods, `cluster mode, cluster_state:fail, ${served} of 16384 slots served`, {
    required: 'cluster_state:ok',
    detail:
      'Slots are not assigned or a shard is down: every read, also that of a scan, is refused with `CLUSTERDOWN The cluster is down`.',
    fix: {
      shell: ['redis-cli --cluster check HOST:PORT'],
      notSimulated: 'the command changes nothing',
      by: redisAdministrator,
      text: 'Start the missing shard, or assign its slots to the others (redis-cli --cluster fix); then copy the keys shard by shard. cluster-allow-reads-when-down yes (6.0 and later) allows reads of the keys on this shard.',
    },
  });
}
