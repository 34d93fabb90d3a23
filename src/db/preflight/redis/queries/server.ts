import { parseRedisInfo, type RedisInfoFields } from '../../../../redis/info.ts';
import type { RedisPreflightQuery } from '../query.ts';
import { findRedisReplyValue, requireRedisReplyList, requireRedisReplyText } from './reply.ts';

export type RedisClusterInfoField = 'cluster_state' | 'cluster_size' | 'cluster_slots_assigned' | 'cluster_slots_ok';

export const redisClusterInfoQuery: RedisPreflightQuery<RedisInfoFields<RedisClusterInfoField>> = {
  id: 'CLUSTER INFO',
  command: () => ['CLUSTER', 'INFO'],
  decode: (reply) => parseRedisInfo(requireRedisReplyText(reply)),
  permission: '+cluster|info',
};

export interface RedisClusterSummary {
  readonly primaries: number;
  /** Whether the queried cluster node is a primary. */
  readonly isPrimary: boolean;
  /** Hash slots that are being moved from or to the queried cluster node. */
  readonly moving: readonly string[];
}

/**
 * CLUSTER NODES returns one line for each node: id, address, flags, primary, three timestamps, link state, slots
 * (https://redis.io/docs/latest/commands/cluster-nodes/).
 */
export const redisClusterNodesQuery: RedisPreflightQuery<RedisClusterSummary> = {
  id: 'CLUSTER NODES',
  command: () => ['CLUSTER', 'NODES'],
  decode(reply) {
    const nodes = requireRedisReplyText(reply)
      .split('\n')
      .flatMap((line) => {
        const [, , flags, , , , , , ...slots] = line.trim().split(' ');
        return flags === undefined ? [] : [{ flags: flags.split(','), slots }];
      });
    const own = nodes.find(({ flags }) => flags.includes('myself'));
    if (own === undefined) throw new Error('the reply to CLUSTER NODES has no node with the flag myself');
    return {
      primaries: nodes.filter(({ flags }) => flags.includes('master')).length,
      isPrimary: own.flags.includes('master'),
      // In the reply to CLUSTER NODES, only the line of the queried node lists slots that are being moved:
      // `[5->-other]` to another node, `[5-<-other]` from another node.
      moving: own.slots.flatMap((slot) => /^\[(\d+)-[<>]-/.exec(slot)?.[1] ?? []),
    };
  },
  permission: '+cluster|nodes',
};

/** Names of the modules that the server has loaded. */
export const redisModuleListQuery: RedisPreflightQuery<readonly string[]> = {
  id: 'MODULE LIST',
  command: () => ['MODULE', 'LIST'],
  decode: (reply) => requireRedisReplyList(reply).map((one) => String(findRedisReplyValue(one, 'name'))),
  permission: '+module|list',
};

/** The number of functions in all libraries (Redis 7.0 and later). */
export const redisFunctionCountQuery: RedisPreflightQuery<number> = {
  id: 'FUNCTION STATS',
  command: () => ['FUNCTION', 'STATS'],
  decode: (reply) => {
    const engines = requireRedisReplyList(findRedisReplyValue(reply, 'engines'));
    return engines.reduce<number>((sum, engine, at) => {
      return at % 2 === 0 ? sum : sum + Number(findRedisReplyValue(engine, 'functions_count') ?? 0);
    }, 0);
  },
  permission: '+function|stats',
};

/** Milliseconds of the longest occurrence of each event; only those above latency-monitor-threshold are recorded. */
export const redisLatencyMaximaQuery: RedisPreflightQuery<ReadonlyMap<string, number>> = {
  id: 'LATENCY LATEST',
  command: () => ['LATENCY', 'LATEST'],
  decode: (reply) =>
    new Map(
      requireRedisReplyList(reply).map((event) => {
        const [name, , , max] = requireRedisReplyList(event);
        return [String(name), Number(max)];
      }),
    ),
  permission: '+latency|latest',
};
