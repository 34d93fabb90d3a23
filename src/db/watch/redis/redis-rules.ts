import { formatDuration } from '../../../base/text.ts';
import { formatRedisCommand } from '../../../redis/quote.ts';
import { findSourceConnectionProbeViolations } from '../connection-probe.ts';
import type { MigrationWatchLimits } from '../migration-watch-limits.ts';
import type { WatchRuleViolation } from '../status-sample.ts';
import type { RedisFullSyncsSinceSuccess } from './full-syncs.ts';
import type { ConnectedReplica, RedisPollFailure, WatchedRedisFacts } from './redis-facts.ts';

export interface RedisWatchRuleInput {
  readonly now: WatchedRedisFacts;
  readonly first: WatchedRedisFacts;
  /** The facts of recent polls, oldest first; the last element is `now`. */
  readonly window: readonly WatchedRedisFacts[];
  readonly replica: ConnectedReplica | undefined;
  /** The replica of the migration in earlier polls; undefined if none was found. */
  readonly knownReplica: string | undefined;
  /** Milliseconds since the replica was last connected. */
  readonly missingMs: number;
  readonly fullSyncs: RedisFullSyncsSinceSuccess;
  readonly limits: MigrationWatchLimits;
}

type RedisRule = (input: RedisWatchRuleInput) => readonly WatchRuleViolation[];

export function runRedisWatchRules(input: RedisWatchRuleInput): readonly WatchRuleViolation[] {
  return redisRules.flatMap((rule) => rule(input));
}

/** The rules whose violation means that nothing is replicated. */
export const redisWatchRulesStoppingReplication: ReadonlySet<string> = new Set([
  'full-sync-loop',
  'replica-timeout',
  'source-is-replica',
]);

const failoverRule: RedisRule = ({ now, first }) => {
  if (!now.isPrimary) {
    return [
      {
        rule: 'source-is-replica',
        observed: 'the source is a replica now, after a failover',
        hint: 'promote the source again, or stop the migration and start it from the new primary',
      },
    ];
  }
  if (now.replicationId === first.replicationId) return [];
  return [
    {
      rule: 'replication-id-changed',
      observed: now.runId === first.runId ? 'the replication id changed: a failover' : 'the source was restarted',
      hint: 'wait: the target copies everything again, including the writes since then',
    },
  ];
};

const replicaGoneRule: RedisRule = ({ replica, knownReplica, missingMs }) =>
  replica !== undefined || knownReplica === undefined
    ? []
    : [
        {
          rule: 'replica-gone',
          observed: `the replica ${knownReplica} has not been connected for ${formatDuration(missingMs)}`,
          hint: 'check in the control panel whether the migration was stopped, then check the firewalls and the password',
        },
      ];

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
const fullSyncLoopRule: RedisRule = ({ now, replica, fullSyncs, limits }) => {
  const { started, since = now.at } = fullSyncs;
  if (started < limits.failedAttempts || replica?.state === 'online') return [];
  return [
    {
      rule: 'full-sync-loop',
      observed: `${started} full synchronizations were started in ${formatDuration(now.at - since)}`,
      hint: `raise repl-timeout and the client-output-buffer-limit of replicas (now: ${now.config.get('client-output-buffer-limit') ?? 'not readable'}): CONFIG SET client-output-buffer-limit "replica BYTES 0 0", as far as the machine has memory`,
    },
  ];
};

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

const configRule: RedisRule = ({ now, first }) =>
  ['maxmemory', 'maxmemory-policy', 'client-output-buffer-limit', 'repl-timeout', 'bind', 'port', 'tls-port'].flatMap(
    (name): readonly WatchRuleViolation[] => {
      const [before, after] = [first.config.get(name), now.config.get(name)];
      if (before === undefined || after === undefined || before === after) return [];
      return [
        {
          rule: `${name}-changed`,
          observed: `${name} changed from ${before === '' ? "''" : before} to ${after === '' ? "''" : after}`,
          hint: `undo the change: ${formatRedisCommand('CONFIG', 'SET', name, before)}`,
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

/** A loss of half of the keys during a migration is probably the result of FLUSHALL or of a mistake. */
const droppedKeysRule: RedisRule = ({ now, window }) => {
  const count = (facts: WatchedRedisFacts | undefined) =>
    (facts?.keyspace ?? []).reduce((sum, { keys }) => sum + keys, 0);
  const [before, after] = [count(window[0]), count(now)];
  return before < 100 || after >= before / 2
    ? []
    : [
        {
          rule: 'keys-dropped',
          observed: `${before} keys decreased to ${after} in ${formatDuration(now.at - (window[0]?.at ?? now.at))}`,
          hint: 'if this was a mistake, stop the migration before the target loses the keys too',
        },
      ];
};

const connectionProbeRule: RedisRule = ({ now, first }) =>
  findSourceConnectionProbeViolations(first.connection, now.connection);

const redisRules: readonly RedisRule[] = [
  failoverRule,
  replicaGoneRule,
  replicaTimeoutRule,
  fullSyncLoopRule,
  evictionRule,
  deniedLoginsRule,
  droppedKeysRule,
  configRule,
  connectionProbeRule,
];

export function redisOutageViolations(outage: RedisPollFailure, since: number): readonly WatchRuleViolation[] {
  const refused = ['WRONGPASS', 'NOAUTH', 'NOPERM', 'DENIED'].includes(outage.code);
  return [
    {
      rule: refused ? 'login-refused' : 'source-unreachable',
      observed: `the source has not answered for ${formatDuration(outage.at - since)}: ${outage.reason}`,
      hint: refused
        ? 'restore the password and the ACL of the user: the target logs in with the same credentials'
        : 'start the source, or check the network: the target reconnects by itself, and the watch keeps retrying',
    },
  ];
}
