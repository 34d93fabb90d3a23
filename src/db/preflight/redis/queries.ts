import type { RedisReply } from '../../../redis/connection.ts';
import { type InfoFields, infoNumber, parseInfo, parseValueParts, type RedisInfo } from '../../../redis/info.ts';
import type { RedisCommand } from '../../../redis/resp.ts';

/**
 * One read-only command. All commands are sent together; a command that is denied or unknown does not affect the
 * others.
 */
export interface RedisQuery<T> {
  /** The query as `--show-queries` prints it, such as `CONFIG GET repl-*`. */
  readonly id: string;
  readonly command: (context: QueryContext) => RedisCommand;
  /** Throws if the reply does not have the expected structure. */
  readonly decode: (reply: RedisReply) => T;
  /** The ACL rules that allow a user to send the command, as arguments of ACL SETUSER: `+config|get`. */
  readonly permission: string;
}

export interface QueryContext {
  /** The ACL user of the session: `default` unless AUTH was sent with another name. */
  readonly user: string;
}

/** Converts a flat list of names and values to a map. */
function parsePairs(reply: RedisReply): ReadonlyMap<string, string> {
  const list = requireList(reply);
  return new Map(
    list.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[String(name), String(list[at + 1])]] : [])),
  );
}

/** Throws if the reply is not a list. */
export function requireList(reply: RedisReply | undefined): readonly RedisReply[] {
  if (Array.isArray(reply)) return reply;
  throw new Error('the reply is not a list');
}

/** Throws if the reply is not text. */
function requireText(reply: RedisReply): string {
  if (typeof reply === 'string') return reply;
  throw new Error('the reply is not text');
}

/** Returns the value that follows a name in a list of alternating names and values. A value may itself be a list. */
function findValue(reply: RedisReply, name: string): RedisReply | undefined {
  const list = requireList(reply);
  const at = list.findIndex((entry, index) => index % 2 === 0 && entry === name);
  return at < 0 ? undefined : list[at + 1];
}

/**
 * Whether the user may run a command, and otherwise the error (ACL DRYRUN, Redis 7.0 and later). ACL DRYRUN does not
 * run the command.
 */
export interface DryRunResult {
  readonly allowed: boolean;
  readonly reply: string;
}

function dryRunQuery(...command: readonly [string, ...string[]]): RedisQuery<DryRunResult> {
  return {
    id: `ACL DRYRUN user ${command.join(' ')}`,
    command: ({ user }) => ['ACL', 'DRYRUN', user, ...command],
    decode(reply) {
      const text = requireText(reply);
      return { allowed: text === 'OK', reply: text };
    },
    permission: '+acl|dryrun',
  };
}

/** The queries with ACL DRYRUN, by command name. */
export const dryRunQueries = {
  // The commands that a replica sends.
  psync: dryRunQuery('PSYNC', '?', '-1'),
  sync: dryRunQuery('SYNC'),
  replconf: dryRunQuery('REPLCONF', 'listening-port', '6379'),
  // The commands of a scan, which must be allowed in every database, for keys of any name.
  select: dryRunQuery('SELECT', '0'),
  scan: dryRunQuery('SCAN', '0'),
  dump: dryRunQuery('DUMP', 'cloudctl:any:key'),
  pttl: dryRunQuery('PTTL', 'cloudctl:any:key'),
  type: dryRunQuery('TYPE', 'cloudctl:any:key'),
};

export interface AclRules {
  /** The ACL rules for commands, in the order in which they were set. */
  readonly commands: readonly string[];
  /**
   * The key patterns of the user, in the syntax of ACL SETUSER: `~app:*`; undefined if the server does not report them.
   */
  readonly keys: readonly string[] | undefined;
}

/** The ACL rules of the user (Redis 6.0 and later). */
export const aclRulesQuery: RedisQuery<AclRules> = {
  id: 'ACL GETUSER user',
  command: ({ user }) => ['ACL', 'GETUSER', user],
  decode(reply) {
    const rules = findValue(reply, 'commands');
    if (typeof rules !== 'string') throw new Error('the rules of the user are not text');
    return { commands: rules.split(' '), keys: keyPatterns(findValue(reply, 'keys')) };
  },
  permission: '+acl|getuser',
};

/**
 * Redis 7.0 returns the key patterns in one line, as they were set; 6.x returns a list of patterns without the tilde.
 */
function keyPatterns(reply: RedisReply | undefined): readonly string[] | undefined {
  if (typeof reply === 'string') return reply.split(' ').filter((pattern) => pattern !== '');
  return Array.isArray(reply) ? reply.map((pattern) => `~${String(pattern)}`) : undefined;
}

/** The commands that a replica, the preflight queries and a scan send. */
const commandNames = [
  'psync',
  'sync',
  'replconf',
  'ping',
  'info',
  'config',
  'command',
  'cluster',
  'select',
  'scan',
  'dump',
  'pttl',
  'type',
] as const;

type NeededCommand = (typeof commandNames)[number];

/**
 * The commands that exist under their original names; the reply has an empty entry for a command that was renamed or
 * removed.
 */
export const commandsQuery: RedisQuery<ReadonlySet<NeededCommand>> = {
  id: `COMMAND INFO ${commandNames.join(' ')}`,
  command: () => ['COMMAND', 'INFO', ...commandNames],
  decode: (reply) => {
    const list = requireList(reply);
    return new Set(commandNames.filter((_, at) => Array.isArray(list[at])));
  },
  permission: '+command|info',
};

/**
 * The values in the reply to CONFIG GET, by setting. Only the settings that the query names can be read; a setting that
 * the server does not have is absent.
 */
export interface ConfigValues<Setting extends string> extends Iterable<readonly [name: string, value: string]> {
  get(setting: Setting): string | undefined;
  has(setting: Setting): boolean;
  readonly size: number;
}

/**
 * One CONFIG GET. CONFIG GET is never sent with `*` alone, and never for a setting that contains a secret.
 * @param pattern a pattern for CONFIG GET, which can match the names from before and after Redis 5.0 in one command
 */
function configQuery<Setting extends string>(pattern: string): RedisQuery<ConfigValues<Setting>> {
  return {
    id: `CONFIG GET ${pattern}`,
    command: () => ['CONFIG', 'GET', pattern],
    decode: parsePairs,
    permission: '+config|get',
  };
}

export type ReplicationSetting =
  | 'repl-backlog-size'
  | 'repl-diskless-sync'
  | 'repl-diskless-sync-delay'
  | 'repl-ping-replica-period'
  | 'repl-ping-slave-period'
  | 'repl-rdb-channel'
  | 'repl-timeout';

export const databaseLimitQuery = configQuery<'databases'>('databases');
/** A cluster of Valkey 9 has its own number of databases. */
export const clusterDatabasesQuery = configQuery<'cluster-databases'>('cluster-databases');
export const protectedModeQuery = configQuery<'protected-mode'>('protected-mode');
export const bindQuery = configQuery<'bind'>('bind');
export const replicationQuery = configQuery<ReplicationSetting>('repl-*');
export const dualChannelQuery = configQuery<'dual-channel-replication-enabled'>('dual-channel-*');
export const minReplicasQuery = configQuery<'min-replicas-to-write' | 'min-slaves-to-write'>('min-*-to-write');
export const outputBufferQuery = configQuery<'client-output-buffer-limit'>('client-output-buffer-limit');
export const maxmemoryQuery = configQuery<'maxmemory' | 'maxmemory-policy'>('maxmemory*');

/** The limit of the memory in bytes (0: none), and what the server does at the limit; from INFO, else from CONFIG GET. */
export function readMaxmemory(
  info: RedisInfo,
  config: ConfigValues<'maxmemory' | 'maxmemory-policy'> | undefined,
): { readonly limit: number; readonly policy: string } {
  return {
    limit: infoNumber(info, 'maxmemory') ?? Number(config?.get('maxmemory') ?? 0),
    policy: info.get('maxmemory_policy') ?? config?.get('maxmemory-policy') ?? 'noeviction',
  };
}

export const maxclientsQuery = configQuery<'maxclients'>('maxclients');
export const tlsPortQuery = configQuery<'tls-port'>('tls-port');
export const tlsReplicationQuery = configQuery<'tls-replication'>('tls-replication');
export const keyspaceEventsQuery = configQuery<'notify-keyspace-events'>('notify-keyspace-events');
export const bulkLengthQuery = configQuery<'proto-max-bulk-len'>('proto-max-bulk-len');
export const dirQuery = configQuery<'dir'>('dir');
export const savePointsQuery = configQuery<'save'>('save');
export const aclfileQuery = configQuery<'aclfile'>('aclfile');
export const luaReplicateQuery = configQuery<'lua-replicate-commands'>('lua-replicate-commands');
export const clusterReadsQuery = configQuery<'cluster-allow-reads-when-down'>('cluster-allow-reads-when-down');

/** All queries with CONFIG GET, used to find those that return a setting. */
export const configQueries: readonly RedisQuery<ConfigValues<string>>[] = [
  databaseLimitQuery,
  clusterDatabasesQuery,
  protectedModeQuery,
  bindQuery,
  replicationQuery,
  dualChannelQuery,
  minReplicasQuery,
  outputBufferQuery,
  maxmemoryQuery,
  maxclientsQuery,
  tlsPortQuery,
  tlsReplicationQuery,
  keyspaceEventsQuery,
  bulkLengthQuery,
  dirQuery,
  savePointsQuery,
  aclfileQuery,
  luaReplicateQuery,
  clusterReadsQuery,
];

/**
 * INFO without arguments returns the default sections: server, clients, memory, persistence, stats, replication,
 * cluster, keyspace.
 */
export const infoQuery: RedisQuery<RedisInfo> = {
  id: 'INFO',
  command: () => ['INFO'],
  decode: (reply) => parseInfo(requireText(reply)),
  permission: '+info',
};

/** Number of calls of each command since the server started, by command name. */
export const commandCallsQuery: RedisQuery<ReadonlyMap<string, number>> = {
  id: 'INFO commandstats',
  command: () => ['INFO', 'commandstats'],
  decode: (reply) =>
    new Map(
      [...parseInfo(requireText(reply))].map(([name, value]) => [
        name.replace(/^cmdstat_/, ''),
        Number(parseValueParts(value).get('calls') ?? 0),
      ]),
    ),
  permission: '+info',
};

/** The number of Sentinels that monitor the server: each listens to the channel in which Sentinels announce themselves. */
export const sentinelsQuery: RedisQuery<number> = {
  id: 'PUBSUB NUMSUB __sentinel__:hello',
  command: () => ['PUBSUB', 'NUMSUB', '__sentinel__:hello'],
  decode: (reply) => Number(requireList(reply)[1]),
  permission: '+pubsub|numsub',
};

/**
 * Names of the loaded modules from INFO, because more users may run INFO than MODULE LIST. INFO has one line for each
 * module, all with the same field name.
 */
export const infoModulesQuery: RedisQuery<readonly string[]> = {
  id: 'INFO modules',
  command: () => ['INFO', 'modules'],
  decode: (reply) => [...requireText(reply).matchAll(/^module:name=([^,\r\n]+)/gm)].map(([, name]) => name ?? ''),
  permission: '+info',
};

export type ClusterInfoField = 'cluster_state' | 'cluster_size' | 'cluster_slots_assigned' | 'cluster_slots_ok';

export const clusterInfoQuery: RedisQuery<InfoFields<ClusterInfoField>> = {
  id: 'CLUSTER INFO',
  command: () => ['CLUSTER', 'INFO'],
  decode: (reply) => parseInfo(requireText(reply)),
  permission: '+cluster|info',
};

export interface ClusterSummary {
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
export const clusterNodesQuery: RedisQuery<ClusterSummary> = {
  id: 'CLUSTER NODES',
  command: () => ['CLUSTER', 'NODES'],
  decode(reply) {
    const nodes = requireText(reply)
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
export const modulesQuery: RedisQuery<readonly string[]> = {
  id: 'MODULE LIST',
  command: () => ['MODULE', 'LIST'],
  decode: (reply) => requireList(reply).map((one) => String(findValue(one, 'name'))),
  permission: '+module|list',
};

/** The number of functions in all libraries (Redis 7.0 and later). */
export const functionCountQuery: RedisQuery<number> = {
  id: 'FUNCTION STATS',
  command: () => ['FUNCTION', 'STATS'],
  decode: (reply) => {
    const engines = requireList(findValue(reply, 'engines'));
    return engines.reduce<number>((sum, engine, at) => {
      return at % 2 === 0 ? sum : sum + Number(findValue(engine, 'functions_count') ?? 0);
    }, 0);
  },
  permission: '+function|stats',
};

/** Milliseconds of the longest occurrence of each event; only those above latency-monitor-threshold are recorded. */
export const latencyQuery: RedisQuery<ReadonlyMap<string, number>> = {
  id: 'LATENCY LATEST',
  command: () => ['LATENCY', 'LATEST'],
  decode: (reply) =>
    new Map(
      requireList(reply).map((event) => {
        const [name, , , max] = requireList(event);
        return [String(name), Number(max)];
      }),
    ),
  permission: '+latency|latest',
};
