import { checkConnectionProbe } from '../connection-probe.ts';
import type { Violation } from '../status-sample.ts';
import { formatElapsed } from '../units.ts';
import type { WatchLimits } from '../watch-limits.ts';
import type { FullSyncCount } from './full-syncs.ts';
import type { ConnectedReplica, RedisFacts, RedisOutage } from './redis-facts.ts';

export interface RedisRuleInput {
  readonly now: RedisFacts;
  readonly first: RedisFacts;
  /** Oldest first; the last one is `now`. */
  readonly window: readonly RedisFacts[];
  readonly replica: ConnectedReplica | undefined;
  /** The replica of earlier polls; undefined: none was seen. */
  readonly knownReplica: string | undefined;
  /** Milliseconds since it was last connected. */
  readonly missingMs: number;
  readonly fullSyncs: FullSyncCount;
  readonly limits: WatchLimits;
}

type RedisRule = (input: RedisRuleInput) => readonly Violation[];

export function runRedisRules(input: RedisRuleInput): readonly Violation[] {
  return redisRules.flatMap((rule) => rule(input));
}

/** Violations during which nothing is replicated. */
export const redisStoppingRules: ReadonlySet<string> = new Set([
  'full-sync-loop',
  'replica-timeout',
  'source-is-replica',
]);

const failoverRule: RedisRule = ({ now, first }) => {
  if (!now.isPrimary) {
    return [
      {
        rule: 'source-is-replica',
        observed: 'the source is a replica now: it was failed over',
        hint: 'make it the primary again, or stop the migration and start it from the new primary',
      },
    ];
  }
  if (now.replicationId === first.replicationId) return [];
  return [
    {
      rule: 'replication-id-changed',
      observed: now.runId === first.runId ? 'the replication id is another: a failover' : 'the source was restarted',
      hint: 'the target copies everything again from the beginning; what was written meanwhile is in that copy',
    },
  ];
};

const replicaGoneRule: RedisRule = ({ replica, knownReplica, missingMs }) =>
  replica !== undefined || knownReplica === undefined
    ? []
    : [
        {
          rule: 'replica-gone',
          observed: `the replica ${knownReplica} has not been connected for ${formatElapsed(missingMs / 1000)}`,
          hint: 'the migration was stopped, or the target cannot connect: look in the control panel, then at firewalls and the password',
        },
      ];

const replicaTimeoutRule: RedisRule = ({ replica, now }) => {
  const timeout = Number(now.config.get('repl-timeout') ?? 60);
  return replica?.state !== 'online' || replica.lag <= timeout
    ? []
    : [
        {
          rule: 'replica-timeout',
          observed: `the replica ${replica.name} was last heard of ${replica.lag} s ago (repl-timeout is ${timeout} s)`,
          hint: 'look at the network between the two and at the load of the target',
        },
      ];
};

/** Each full synchronization fails and the next one starts. */
const fullSyncLoopRule: RedisRule = ({ now, replica, fullSyncs, limits }) => {
  const { started, since = now.at } = fullSyncs;
  if (started < limits.failedAttempts || replica?.state === 'online') return [];
  return [
    {
      rule: 'full-sync-loop',
      observed: `${started} full copies were begun in ${formatElapsed((now.at - since) / 1000)}`,
      hint: `raise client-output-buffer-limit for replicas (it is ${now.config.get('client-output-buffer-limit') ?? 'not known'}) and repl-timeout: CONFIG SET client-output-buffer-limit "replica 0 0 0"`,
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
          observed: `${evicted} keys were evicted in ${formatElapsed((now.at - (window[0]?.at ?? now.at)) / 1000)}`,
          hint: 'memory is full: raise maxmemory, since keys that are evicted are missing on the target as well',
        },
      ];
};

const configRule: RedisRule = ({ now, first }) =>
  ['maxmemory', 'maxmemory-policy', 'client-output-buffer-limit', 'repl-timeout', 'bind', 'port', 'tls-port'].flatMap(
    (name): readonly Violation[] => {
      const [before, after] = [first.config.get(name), now.config.get(name)];
      if (before === undefined || after === undefined || before === after) return [];
      return [
        {
          rule: `${name}-changed`,
          observed: `${name} was ${before === '' ? "''" : before} and is ${after === '' ? "''" : after}`,
          hint: `put it back: CONFIG SET ${name} "${before}"`,
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
          observed: `${denied} logins were refused in ${formatElapsed((now.at - before.at) / 1000)}`,
          hint: 'if the password or the ACL of the migration user was changed, put it back: ACL LOG tells who was refused',
        },
      ];
};

/** A loss of half of the keys during a migration points to FLUSHALL or a mistake. */
const droppedKeysRule: RedisRule = ({ now, window }) => {
  const count = (facts: RedisFacts | undefined) => (facts?.keyspace ?? []).reduce((sum, { keys }) => sum + keys, 0);
  const [before, after] = [count(window[0]), count(now)];
  return before < 100 || after >= before / 2
    ? []
    : [
        {
          rule: 'keys-dropped',
          observed: `${before} keys became ${after} in ${formatElapsed((now.at - (window[0]?.at ?? now.at)) / 1000)}`,
          hint: 'the target follows: if it was not meant, stop the migration before the target loses them too',
        },
      ];
};

const connectionProbeRule: RedisRule = ({ now, first }) => checkConnectionProbe(first.connection, now.connection);

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

export function redisOutageViolations(outage: RedisOutage, since: number): readonly Violation[] {
  const refused = ['WRONGPASS', 'NOAUTH', 'NOPERM', 'DENIED'].includes(outage.code);
  return [
    {
      rule: refused ? 'login-refused' : 'source-unreachable',
      observed: `the source has not answered for ${formatElapsed((outage.at - since) / 1000)}: ${outage.reason}`,
      hint: refused
        ? 'the target logs in with the same words: put back the password and the ACL of the user'
        : 'start the source, or look at the network: the target connects again by itself; the watch goes on trying',
    },
  ];
}
