import { formatBytes, formatDuration } from '../../../base/text.ts';
import { formatCommand } from '../../../redis/quote.ts';
import type { WatchLimits } from '../limits.ts';
import { probeViolations } from '../probe.ts';
import type { Violation } from '../sample.ts';
import type { ConnectedReplica, RedisFacts, RedisOutage } from './facts.ts';
import { describeLostKeys, type LostKeys } from './lost.ts';

interface RedisWatchRuleInput {
  readonly now: RedisFacts;
  readonly first: RedisFacts;
  /** The facts of recent polls, oldest first; the last element is `now`. */
  readonly window: readonly RedisFacts[];
  readonly replica: ConnectedReplica | undefined;
  /** The replica of the migration in earlier polls; undefined if none was found. */
  readonly knownReplica: string | undefined;
  /** Milliseconds since the replica was last connected. */
  readonly missingMs: number;
  readonly fullSyncs: FullSyncs;
  /** The keys that this run of the source has not, and the one before it had. */
  readonly lost?: LostKeys | undefined;
  readonly limits: WatchLimits;
}

type RedisRule = (input: RedisWatchRuleInput) => readonly Violation[];

export function runRedisRules(input: RedisWatchRuleInput): readonly Violation[] {
  return redisRules.flatMap((rule) => rule(input));
}

/** The rules whose violation means that nothing is replicated. */
export const stoppingRedisRules: ReadonlySet<string> = new Set([
  'full-sync-loop',
  'replica-timeout',
  'source-is-replica',
]);

/** Nothing brings the keys back by itself, so it is said until the source has as many again. */
const lostKeysRule: RedisRule = ({ lost }) =>
  lost === undefined
    ? []
    : [
        {
          rule: 'keys-lost',
          observed: describeLostKeys(lost),
          hint: 'stop the application, and load the keys into the source again; so that the next restart keeps them, run CONFIG SET appendonly yes there',
        },
      ];

const failoverRule: RedisRule = ({ now, first, window, lost }) => {
  if (!now.isPrimary) {
    // Its hint may end the migration, so one poll is not enough.
    if (window.at(-2)?.isPrimary !== false) return [];
    return [
      {
        rule: 'source-is-replica',
        observed: `the source is a replica of ${now.primary ?? 'another server'} now${first.isPrimary ? ': it was demoted' : ''}`,
        hint: 'promote the source again, or stop the migration, empty the target, and start it from the new primary',
      },
    ];
  }
  if (now.replicationId === first.replicationId || lost !== undefined) return [];
  return [
    {
      rule: 'replication-id-changed',
      observed: describeNewReplicationId(now, first, window),
      hint: 'wait: the target connects again, and copies everything again if it cannot continue',
    },
  ];
};

function describeNewReplicationId(now: RedisFacts, first: RedisFacts, window: readonly RedisFacts[]): string {
  if (now.runId !== first.runId) return 'the source was restarted';
  const wasReplica = window.some(({ isPrimary }) => !isPrimary) || now.formerReplicationId === first.replicationId;
  return wasReplica
    ? 'the replication id changed: the source was a replica, and was promoted again'
    : 'the replication id changed without a restart';
}

const replicaGoneRule: RedisRule = ({ replica, knownReplica, missingMs, window, limits }) => {
  if (replica !== undefined || knownReplica === undefined) return [];
  const wasSeen = window.some(({ replicas }) => replicas.some(({ name }) => name === knownReplica));
  // The time since the begin of the watch says nothing about the replica of an earlier command.
  const isKnown = wasSeen || missingMs >= limits.unreachable;
  return [
    {
      rule: 'replica-gone',
      observed: isKnown
        ? `the replica ${knownReplica} has not been connected for ${formatDuration(missingMs)}`
        : `the replica ${knownReplica}, which an earlier command followed, is not connected`,
      hint: 'check in the control panel whether the migration was stopped, then check the firewalls and the password',
    },
  ];
};

const replicaTimeoutRule: RedisRule = ({ replica, now }) => {
  const timeout = Number(now.config.get('repl-timeout') ?? 60);
  return replica?.state !== 'online' || replica.lag <= timeout
    ? []
    : [
        {
          rule: 'replica-timeout',
          observed: `the replica ${replica.name} has not responded for ${replica.lag} s (repl-timeout is ${timeout} s)`,
          hint: 'check the network between source and target, and the load of the target',
        },
      ];
};

/** The rule for a full synchronization that fails and starts again repeatedly. */
const fullSyncLoopRule: RedisRule = ({ now, first, window, replica, fullSyncs, limits }) => {
  const { started, since = now.at, online } = fullSyncs;
  if (started < limits.failedAttempts) return [];
  // A replica whose connection is closed again and again is online for moments.
  const isOnline = replica?.state === 'online';
  if (isOnline && (online === undefined || now.at - online >= limits.suspectedStop)) return [];
  return [
    {
      rule: 'full-sync-loop',
      ...findFullSyncCause(
        { now, first, window },
        `${started} full synchronizations were started in ${formatDuration(now.at - since)}`,
      ),
    },
  ];
};

/** The lower of the two limits for replicas in `normal 0 0 0 slave 256mb 64mb 60 pubsub …`; undefined: none. */
function smallestReplicaLimit(setting: string): number | undefined {
  const [, hard, soft] = /\b(?:slave|replica) (\d+) (\d+) \d+/.exec(setting) ?? [];
  const limits = [Number(hard ?? 0), Number(soft ?? 0)].filter((limit) => limit > 0);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** A cause of the loop for which the source has a fact; else what can be the cause on both sides. */
function findFullSyncCause(
  { now, first, window }: Pick<RedisWatchRuleInput, 'now' | 'first' | 'window'>,
  seen: string,
): Pick<Violation, 'observed' | 'hint'> {
  const limit = now.config.get('client-output-buffer-limit') ?? 'not readable';
  const { bufferLimitDisconnections: cut } = now;
  const earlier = now.runId === first.runId ? (first.bufferLimitDisconnections ?? 0) : 0;
  if (now.isSnapshotFailing)
    return {
      observed: `${seen}; the source cannot write its snapshot (rdb_last_bgsave_status is err)`,
      hint: 'free disk space and memory on the source: its log has the error',
    };
  const largest = Math.max(...window.map(({ replicaBuffers }) => replicaBuffers));
  const allowed = smallestReplicaLimit(limit);
  const hasCut = cut !== undefined && cut > earlier;
  if (hasCut || (cut === undefined && allowed !== undefined && largest > allowed))
    return {
      observed: hasCut
        ? `${seen}; the source closed ${cut - earlier} connections for their output buffer`
        : `${seen}; the output buffers of replicas held ${formatBytes(largest)}, and the source closes a connection at ${formatBytes(allowed ?? 0)}`,
      hint: `raise client-output-buffer-limit (now: ${limit}): CONFIG SET client-output-buffer-limit "replica BYTES 0 0", as far as the machine has memory`,
    };
  const ofSource = [
    ...(cut === undefined ? [`client-output-buffer-limit (now: ${limit})`] : []),
    `repl-timeout (now: ${now.config.get('repl-timeout') ?? 'not readable'})`,
  ];
  return {
    observed: `${seen}, and none was completed`,
    hint: `the source does not show the cause. On the target: a full disk, too little memory, or a version that cannot read the data. On the source: ${ofSource.join(', ')}. Between them: the network. The log of the target has the error`,
  };
}

const evictionRule: RedisRule = ({ now, window }) => {
  const evicted = now.evicted - (window[0]?.evicted ?? now.evicted);
  return evicted <= 0
    ? []
    : [
        {
          rule: 'evicting',
          observed: `${evicted} keys were evicted in ${formatDuration(now.at - (window[0]?.at ?? now.at))}`,
          hint: 'raise maxmemory: evicted keys are missing on the target as well',
        },
      ];
};

/** A server whose memory is full, and that may evict nothing, refuses the writes of the application. */
const fullMemoryRule: RedisRule = ({ now }) => {
  const limit = Number(now.config.get('maxmemory') ?? 0);
  return limit === 0 || now.memory <= limit || now.config.get('maxmemory-policy') !== 'noeviction'
    ? []
    : [
        {
          rule: 'memory-full',
          observed: `the source refuses writes: it uses ${formatBytes(now.memory)} of memory, and maxmemory is ${formatBytes(limit)}`,
          hint: 'raise maxmemory: CONFIG SET maxmemory BYTES, as far as the machine has memory',
        },
      ];
};

const snapshotRule: RedisRule = ({ now }) =>
  now.isSnapshotFailing
    ? [
        {
          rule: 'snapshot-failing',
          observed:
            'the source could not write its last snapshot (rdb_last_bgsave_status is err), after which it may refuse writes (MISCONF)',
          hint: 'free disk space and memory on the source: its log has the error',
        },
      ]
    : [];

const configRule: RedisRule = ({ now, first }) =>
  ['maxmemory', 'maxmemory-policy', 'client-output-buffer-limit', 'repl-timeout', 'bind', 'port', 'tls-port'].flatMap(
    (name): readonly Violation[] => {
      const [before, after] = [first.config.get(name), now.config.get(name)];
      if (before === undefined || after === undefined || before === after) return [];
      return [
        {
          rule: `${name}-changed`,
          observed: `${name} changed from ${before === '' ? "''" : before} to ${after === '' ? "''" : after}`,
          hint: `undo the change: ${formatCommand('CONFIG', 'SET', name, before)}`,
        },
      ];
    },
  );

const deniedLoginsRule: RedisRule = ({ now, window }) => {
  const [before] = window;
  if (now.deniedLogins === undefined || before?.deniedLogins === undefined) return [];
  const denied = now.deniedLogins - before.deniedLogins;
  return denied <= 0
    ? []
    : [
        {
          rule: 'login-refused',
          observed: `${denied} logins were refused in ${formatDuration(now.at - before.at)}`,
          hint: 'run ACL LOG to see who was refused; restore the password or the ACL of the migration user if it was changed',
        },
      ];
};

/**
 * A loss of half of the keys during a migration is probably the result of FLUSHALL or of a mistake. Two polls of the same
 * run must show it, because a server that starts has few keys for a while.
 */
const droppedKeysRule: RedisRule = ({ now, window }) => {
  const count = (facts: RedisFacts | undefined) => (facts?.keyspace ?? []).reduce((sum, { keys }) => sum + keys, 0);
  const last = window.at(-2);
  const isConfirmed = last !== undefined && last.runId === now.runId;
  const [before, after] = [count(window[0]), Math.max(count(now), count(last))];
  return !isConfirmed || before < 100 || after >= before / 2
    ? []
    : [
        {
          rule: 'keys-dropped',
          observed: `${before} keys decreased to ${after} in ${formatDuration(now.at - (window[0]?.at ?? now.at))}`,
          hint: 'if this was a mistake, stop the migration before the target loses the keys too',
        },
      ];
};

const connectionProbeRule: RedisRule = ({ now, first }) => probeViolations(first.connection, now.connection, 'redis');

const redisRules: readonly RedisRule[] = [
  lostKeysRule,
  failoverRule,
  replicaGoneRule,
  replicaTimeoutRule,
  fullSyncLoopRule,
  evictionRule,
  fullMemoryRule,
  snapshotRule,
  deniedLoginsRule,
  droppedKeysRule,
  configRule,
  connectionProbeRule,
];

/** @param user with which the watch logs in; undefined: the default user */
export function redisOutages(outage: RedisOutage, since: number, user: string | undefined): readonly Violation[] {
  const { code, reason } = outage;
  // The first poll that fails knows of no time.
  const lasted = outage.at > since ? ` for ${formatDuration(outage.at - since)}` : '';
  if (code === 'BUSY')
    return [
      {
        rule: 'source-busy',
        observed: `the source runs a script or function and has answered nothing else${lasted}: ${reason}`,
        hint: 'wait until the script ends; end one that has not written with SCRIPT KILL or FUNCTION KILL',
      },
    ];
  const command = code === 'NOPERM' ? /'([a-z|-]+)' command/i.exec(reason)?.[1] : undefined;
  if (command !== undefined)
    return [
      {
        rule: 'command-denied',
        observed: `the user of the watch may not run ${command.toUpperCase()}${lasted}: ${reason}`,
        hint: `allow the command: ${formatCommand('ACL', 'SETUSER', user ?? 'default', `+${command}`)}`,
      },
    ];
  if (/max number of clients/.test(reason))
    return [
      {
        rule: 'connections-exhausted',
        observed: `the source has accepted no connection${lasted}: ${reason}`,
        hint: 'close connections, or raise maxclients: CONFIG SET maxclients COUNT on a connection that is open',
      },
    ];
  const refused = ['WRONGPASS', 'NOAUTH', 'NOPERM', 'DENIED', 'NO_PASSWORD'].includes(code);
  return [
    {
      rule: refused ? 'login-refused' : 'source-unreachable',
      observed: refused
        ? `the source has refused the login${lasted}: ${reason}`
        : `the source has not answered${lasted}: ${reason}`,
      hint: refused
        ? 'if the password or the ACL of the user was changed, restore it: the target logs in with the same credentials'
        : 'start the source, or check the network: the watch keeps retrying',
    },
  ];
}

/**
 * Counts full synchronizations since the last successful one. A full synchronization may take hours, so the count has
 * no time window.
 */
export interface FullSyncs {
  readonly started: number;
  /** Time of the first full synchronization in milliseconds since the epoch; undefined if there was none. */
  readonly since: number | undefined;
  /** Time at which the replica came online, in milliseconds since the epoch; undefined if it is not online. */
  readonly online: number | undefined;
}

export const noFullSyncs: FullSyncs = {
  started: 0,
  since: undefined,
  online: undefined,
};

/**
 * Counts the full synchronizations that the source has started.
 * @param before the facts of the previous poll; undefined in the first poll, which does not count full synchronizations that
 * started before it
 */
export function countFullSyncs(
  previous: FullSyncs,
  before: Pick<RedisFacts, 'fullSyncs' | 'runId'> | undefined,
  now: Pick<RedisFacts, 'at' | 'fullSyncs' | 'runId' | 'replicas'>,
  replica: Pick<ConnectedReplica, 'name' | 'state'> | undefined,
  { unreachable }: Pick<WatchLimits, 'unreachable'>,
): FullSyncs {
  const isOnline = replica?.state === 'online';
  const online = isOnline ? (previous.online ?? now.at) : undefined;
  // A full synchronization counts as successful if the replica then stays online for some time.
  if (online !== undefined && now.at - online >= unreachable) return { ...noFullSyncs, online };
  // After a restart of the server, its counter sync_full begins at zero.
  const all = before === undefined ? 0 : now.fullSyncs - (before.runId === now.runId ? before.fullSyncs : 0);
  // sync_full in INFO counts the full synchronizations of all replicas.
  const isOfOthers = now.replicas.some(({ name, state }) => name !== replica?.name && state !== 'online');
  const fresh = isOfOthers ? 0 : Math.max(0, all);
  return { started: previous.started + fresh, since: previous.since ?? (fresh > 0 ? now.at : undefined), online };
}
