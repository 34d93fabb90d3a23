import { describe, expect, it } from 'vitest';
import { watchLimits } from '../../../../src/db/watch/limits.ts';
import { parseRedisFacts, type RedisFacts } from '../../../../src/db/watch/redis/facts.ts';
import {
  countFullSyncs,
  type FullSyncs,
  noFullSyncs,
  redisOutages,
  runRedisRules,
} from '../../../../src/db/watch/redis/rules.ts';
import { createRedisState, foldRedisPoll, type RedisWatchOptions } from '../../../../src/db/watch/redis/watcher.ts';
import { parseInfo } from '../../../../src/redis/info.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { describeViolations } from '../describe-violations.ts';

const endpoint = { addresses: '10.0.0.1', certificate: undefined, refused: undefined };
const replica = { name: '10.0.0.9:6379', state: 'online', offset: 1000, lag: 0 };
const facts = (more: Partial<RedisFacts> = {}): RedisFacts => ({
  at: 0,
  runId: 'a',
  isPrimary: true,
  primary: undefined,
  replicationId: 'r',
  formerReplicationId: '0',
  loading: undefined,
  bufferLimitDisconnections: undefined,
  replicaBuffers: 0,
  isSnapshotFailing: false,
  offset: 1000,
  replicas: [replica],
  snapshot: undefined,
  fullSyncs: 1,
  dataset: 1000,
  sent: 0,
  memory: 1000,
  keyspace: [{ index: 0, keys: 200, expires: 0, subexpiry: 0 }],
  evicted: 0,
  deniedLogins: 0,
  config: new Map([
    ['maxmemory', '0'],
    ['repl-timeout', '60'],
  ]),
  connection: endpoint,
  ...more,
});

function judge(more: Partial<RedisFacts>, missing = 0, copies: FullSyncs = noFullSyncs) {
  const now = facts({ at: 2000, ...more });
  const [there] = now.replicas;
  return runRedisRules({
    now,
    first: facts(),
    // A sight counts when two polls have it.
    window: [facts(), { ...now, at: 1000 }, now],
    replica: there,
    knownReplica: replica.name,
    missingMs: missing,
    fullSyncs: copies,
    limits: watchLimits,
  });
}

it('a healthy replication breaks no rule', () => {
  expect(judge({})).toEqual([]);
});

it.each<[string, Partial<RedisFacts>, string]>([
  ['a failover', { isPrimary: false }, 'source-is-replica'],
  ['another replication id', { replicationId: 'x' }, 'replication-id-changed'],
  ['a replica that is gone', { replicas: [] }, 'replica-gone'],
  ['a replica that is silent', { replicas: [{ ...replica, lag: 61 }] }, 'replica-timeout'],
  ['keys that are evicted', { evicted: 5 }, 'evicting'],
  ['another maxmemory', { config: new Map([['maxmemory', '100']]) }, 'maxmemory-changed'],
  ['another limit of buffers', { config: new Map([['repl-timeout', '5']]) }, 'repl-timeout-changed'],
  ['logins that are refused', { deniedLogins: 2 }, 'login-refused'],
  [
    'a refused connection',
    { connection: { ...endpoint, refused: { code: 'WRONGPASS', message: 'no' } } },
    'login-refused',
  ],
  ['half of the keys gone', { keyspace: [] }, 'keys-dropped'],
  ['a snapshot that cannot be written', { isSnapshotFailing: true }, 'snapshot-failing'],
])('%s is reported', (_what, more, rule) => {
  const violations = judge(more);
  expect(violations.map((one) => one.rule)).toEqual([rule]);
  expectGolden('db-watch', describeViolations(violations));
});

it('a server whose memory is full refuses writes, unless it may evict keys', () => {
  const full = (policy: string, more: object = {}) => {
    const config = new Map([
      ['maxmemory', '1000'],
      ['maxmemory-policy', policy],
    ]);
    return judge({ memory: 2000, config, ...more }).map(({ rule }) => rule);
  };
  expect(full('noeviction')).toContain('memory-full');
  expect(full('allkeys-lru')).not.toContain('memory-full');
  expect(full('noeviction', { memory: 900 })).not.toContain('memory-full');
});

it.each(['ECONNREFUSED', 'WRONGPASS', 'BUSY', 'NOPERM', 'ERR'])('%s says no time before any has passed', (code) => {
  const reason = code === 'NOPERM' ? "no permissions to run the 'info' command" : 'ERR max number of clients reached';
  const at = 5000;
  const said = (since: number) => redisOutages({ at, code, reason }, since, undefined)[0]?.observed;
  expect(said(at)).not.toMatch(/0 s/);
  expect(said(at - 3000)).toContain('3 s');
});

it('a loop of full synchronizations is not over while the replica is online for moments', () => {
  const copies = { started: 9, since: -20_000, online: 1000 };
  expect(judge({}, 0, copies)).toMatchObject([{ rule: 'full-sync-loop' }]);
  expect(judge({}, 0, { ...copies, online: -9000 })).toEqual([]);
});

it('repeated full synchronizations are a violation, unless the last one succeeded', () => {
  const copies = { started: 3, since: -3_598_000, online: undefined };
  const copying = { replicas: [{ ...replica, state: 'wait_bgsave' }] };
  const violations = judge(copying, 0, copies);
  expect(violations).toMatchObject([{ rule: 'full-sync-loop' }]);
  expectGolden('db-watch', describeViolations(violations));
  expect(judge({}, 0, copies)).toEqual([]);
});

it.each([
  ['WRONGPASS', 'login-refused'],
  ['ECONNREFUSED', 'source-unreachable'],
  ['ERR max number of clients reached', 'connections-exhausted'],
])('an outage with %s is reported as %s', (code, rule) => {
  expect(redisOutages({ at: 5000, code, reason: code }, 0, undefined)[0]).toMatchObject({
    rule,
    observed: expect.stringContaining('5 s'),
  });
});

it('INFO is read: replicas with their addresses, and the snapshot while it runs', () => {
  const text = [
    'role:master',
    'slave0:ip=::1,port=6380,state=online,offset=14,lag=1',
    'rdb_bgsave_in_progress:1',
    'current_save_keys_processed:5',
    'current_save_keys_total:10',
    'maxmemory:7',
  ].join('\r\n');
  const read = parseRedisFacts(parseInfo(text), { at: 1, connection: undefined, config: new Map() });
  expect(read.replicas).toEqual([{ name: '[::1]:6380', state: 'online', offset: 14, lag: 1 }]);
  expect(read.snapshot).toEqual({ done: 5, total: 10 });
  expect(read.config.get('maxmemory')).toBe('7');
});

describe('phases', () => {
  const tracking: RedisWatchOptions = {
    limits: watchLimits,
    hints: { named: [] },
    user: undefined,
    migrationStart: () => undefined,
  };
  const all = (looks: readonly RedisFacts[]) => {
    let memory = createRedisState(undefined, undefined, 0);
    return looks.map((one) => {
      const step = foldRedisPoll(memory, { kind: 'seen', facts: one }, tracking);
      memory = step.state;
      return step;
    });
  };
  const with_ = (at: number, state: string, more: Partial<RedisFacts> = {}) =>
    facts({ at, replicas: [{ ...replica, state }], ...more });

  it('a replica waits for the snapshot, gets it, and is online', () => {
    const steps = all([
      facts({ replicas: [] }),
      with_(1000, 'wait_bgsave', { snapshot: { done: 100, total: 200 } }),
      with_(2000, 'send_bulk', { sent: 0 }),
      with_(3000, 'send_bulk', { sent: 500 }),
      with_(4000, 'online', { replicas: [{ ...replica, offset: 400 }] }),
      with_(5000, 'online'),
    ]);
    expect(steps.map(({ sample }) => [sample.phase, sample.percent, sample.bytes_done])).toEqual([
      ['waiting', 0, 0],
      ['copying', 22.5, 250],
      ['copying', 45, 500],
      ['copying', 67.5, 750],
      ['streaming', 100, 1000],
      ['streaming', 100, 1000],
    ]);
    expect(steps.map(({ idlePolls }) => idlePolls)).toEqual([0, 0, 0, 0, 0, 1]);
  });

  it('a copy that was sent and is not confirmed is said to be that', () => {
    const sent = { replicas: [{ ...replica, offset: 0, state: 'unacknowledged' }] };
    const [first, second] = all([facts({ at: 1000, ...sent }), facts({ at: 3000 })]);
    expect(first?.sample).toMatchObject({ phase: 'copying', notes: [expect.stringContaining('confirmed')] });
    expect(second?.sample).not.toHaveProperty('notes');
  });

  it('copies that take ten minutes each and never hold are a loop', () => {
    const minutes = (at: number) => at * 60_000;
    const steps = all([
      facts({ replicas: [], fullSyncs: 0 }),
      ...[0, 10, 20].flatMap((begun, times) => [
        with_(minutes(begun) + 1000, 'wait_bgsave', { fullSyncs: times + 1 }),
        with_(minutes(begun + 5), 'send_bulk', { fullSyncs: times + 1 }),
        facts({ at: minutes(begun + 10) - 1000, replicas: [], fullSyncs: times + 1 }),
      ]),
      with_(minutes(30), 'wait_bgsave', { fullSyncs: 4 }),
    ]);
    const loops = steps.map(({ sample }) => sample.violations.some(({ rule }) => rule === 'full-sync-loop'));
    expect(loops.indexOf(true)).toBe(7);
    expect(steps.at(-1)?.sample.phase).toBe('stalled');
  });

  it('one that leaves is stalled, then gone, and after five minutes it was stopped', () => {
    const minutes = [1, 2, 3, 4, 5].map((minute) => minute * 60_000 + 5000);
    const steps = all([facts(), ...[5000, ...minutes].map((at) => facts({ at, replicas: [] }))]);
    const phases = ['streaming', 'stalled', 'gone', 'gone', 'gone', 'gone', 'gone'];
    expect(steps.map(({ sample }) => sample.phase)).toEqual(phases);
    expect(steps.map(({ ending }) => ending !== undefined)).toEqual([...Array(6).fill(false), true]);
  });

  it('nothing is known of what a replica has that is not connected, or since when it is not', () => {
    const gone = facts({ at: 2000, replicas: [] });
    const [, { sample } = {}] = all([facts(), gone]);
    expect(sample).not.toHaveProperty('percent');
    expect(sample).not.toHaveProperty('lag_bytes');
    expect(sample?.databases[0]).not.toHaveProperty('lag_bytes');
    const known = createRedisState({ name: replica.name, database: '' }, undefined, 2000);
    const fresh = foldRedisPoll(known, { kind: 'seen', facts: gone }, tracking).sample;
    expect(fresh.violations).toMatchObject([{ rule: 'replica-gone', observed: expect.not.stringContaining('0 s') }]);
  });

  it.each([
    ['slept for an hour', 3_600_000],
    ['set its clock back', -3_600_000],
  ])('a machine that %s has not seen that it was missing meanwhile', (_what, at) => {
    const steps = all([facts(), facts({ at, replicas: [] }), facts({ at: at + 2000, replicas: [] })]);
    expect(steps.map(({ sample }) => sample.phase)).toEqual(['streaming', 'stalled', 'stalled']);
    expect(steps.map(({ ending }) => ending)).toEqual([undefined, undefined, undefined]);
  });
});

describe('full copies', () => {
  const look = (at: number, fullSyncs: number, replicas: RedisFacts['replicas'] = []) => ({
    ...facts(),
    at,
    fullSyncs,
    replicas,
  });
  const copying = { ...replica, state: 'send_bulk' };
  const count = (was: FullSyncs, before: RedisFacts, now: RedisFacts) =>
    countFullSyncs(
      was,
      before,
      now,
      now.replicas.find(({ name }) => name === replica.name),
      watchLimits,
    );

  it('are forgotten when one has held for a while, and not before', () => {
    const begun = { started: 2, since: 0, online: undefined };
    const soon = count(begun, look(0, 2), look(1000, 2, [replica]));
    expect(soon).toEqual({ started: 2, since: 0, online: 1000 });
    expect(count(soon, look(1000, 2), look(60_000, 2, [replica])).started).toBe(2);
    expect(count(soon, look(1000, 2), look(61_000, 2, [replica]))).toEqual({
      ...noFullSyncs,
      online: 1000,
    });
  });

  it('of other replicas are not counted, nor those of before a restart', () => {
    const other = { ...copying, name: '10.0.0.7:6379' };
    expect(count(noFullSyncs, look(0, 1), look(1000, 3, [copying, other])).started).toBe(0);
    expect(count(noFullSyncs, look(0, 1), look(1000, 3, [copying])).started).toBe(2);
    expect(count(noFullSyncs, look(0, 5), { ...look(1000, 1, [copying]), runId: 'b' }).started).toBe(1);
  });
});
