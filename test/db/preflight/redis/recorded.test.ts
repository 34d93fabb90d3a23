import { expect, test } from 'vitest';
import { evaluateRecorded, type Recorded } from './recorded.ts';
import { type RecordedName, recordings } from './recordings.ts';

interface Expected {
  readonly host?: string;
  readonly target: string;
  /** Ids that fail and the methods they block, and ids that are unknown or warn. */
  readonly fail?: Readonly<Record<string, readonly string[]>>;
  readonly warn?: readonly string[];
  readonly unknown?: readonly string[];
}

const both = ['continuous', 'scan'];

/** Each version as the source of a target that fits or does not, and nothing else to complain of. */
const table: readonly (readonly [RecordedName, Expected])[] = [
  ['redis 2.8', { target: '8', warn: ['version-min'], unknown: ['script-replication'] }],
  ['redis 4.0', { target: 'valkey-8', unknown: ['script-replication'] }],
  ['redis 5.0', { target: '7.2' }],
  ['redis 6.0', { target: '6' }],
  ['redis 6.2', { target: '6.0', fail: { 'version-not-newer': both } }],
  ['redis 7.2', { target: 'redis-7.2' }],
  ['redis 7.2', { target: '8' }],
  ['redis 7.4', { target: 'redis-8' }],
  ['redis 7.4', { target: 'valkey-8', fail: { 'version-not-newer': both } }],
  ['redis 7.4', { target: '8', unknown: ['version-not-newer'] }],
  ['redis 8.0', { target: 'redis-8.2' }],
  ['redis 8.0', { target: 'valkey 9', fail: { 'version-not-newer': both } }],
  ['valkey 7.2', { target: 'redis-7.2' }],
  ['valkey 8.1', { target: 'valkey-8.0', fail: { 'version-not-newer': both } }],
  ['valkey 8.1', { target: 'redis-7.0', fail: { 'version-not-newer': both }, unknown: ['target-commands'] }],
  ['valkey 8.1', { target: 'redis-7.2', unknown: ['target-commands'] }],
  ['valkey 8.1', { target: 'valkey-9' }],
  ['valkey 9.0', { target: 'redis-9', fail: { 'version-not-newer': ['scan'] } }],
  ['valkey 9.0', { target: '9' }],
  ['keydb', { target: 'valkey-8', warn: ['version-not-newer'] }],
  [
    'dragonfly',
    {
      target: 'valkey-8',
      fail: { 'psync-command': ['continuous'], 'version-not-newer': ['continuous'] },
      warn: ['renamed-commands'],
      unknown: ['modules', 'replica-output-buffer'],
    },
  ],
  [
    'elasticache',
    {
      host: 'master.shop.abc123.euw1.cache.amazonaws.com',
      target: 'redis-7.2',
      fail: { 'psync-command': ['continuous'], 'managed-blocked': ['continuous'] },
      warn: ['renamed-commands'],
      unknown: hiddenConfig(),
    },
  ],
  [
    'azure',
    {
      host: 'shop.redis.cache.windows.net',
      target: 'redis-7.2',
      fail: { 'psync-command': ['continuous'], 'managed-blocked': ['continuous'] },
      warn: ['renamed-commands'],
      unknown: ['acl-psync', 'acl-scan', ...hiddenConfig(), 'maxclients'],
    },
  ],
  [
    'upstash',
    {
      host: 'eu1-calm-fox-1234.upstash.io',
      target: 'redis-7.2',
      fail: { 'psync-command': ['continuous'], 'managed-blocked': ['continuous'] },
      warn: ['renamed-commands'],
      unknown: [...hiddenConfig(), 'repl-backlog', 'maxmemory', 'maxclients'],
    },
  ],
  [
    // An address tells nothing of the provider, so this is the rule for hidden CONFIG: continuous, and not proven.
    'memorystore',
    {
      host: '10.1.2.3',
      target: 'redis-7.2',
      warn: ['renamed-commands'],
      unknown: ['acl-psync', 'acl-scan', 'managed-blocked', ...hiddenConfig()],
    },
  ],
  [
    'redis cloud',
    {
      host: 'redis-12345.c1.eu-west-1-1.ec2.redis-cloud.com',
      target: 'redis-8',
      fail: { 'psync-command': ['continuous'], 'managed-blocked': ['continuous'], modules: both },
      warn: ['renamed-commands'],
      unknown: ['replica-output-buffer'],
    },
  ],
];

test.each(table)('a recorded %s is judged: %o', async (name, expected) => {
  const recorded: Recorded = recordings[name];
  const changes = expected.host === undefined ? {} : { facts: { host: expected.host } };
  const findings = [
    ...(await evaluateRecorded(recorded, { ...changes, options: { targetVersion: expected.target } })).values(),
  ];
  const ids = (status: string) => findings.filter((finding) => finding.status === status).map(({ id }) => id);
  const failed = findings.filter(({ status }) => status === 'fail').map(({ id, blocks }) => [id, blocks]);
  expect(Object.fromEntries(failed)).toEqual(expected.fail ?? {});
  // The recorded sources were reached over a network without TLS.
  expect(ids('warn').sort()).toEqual(['auth-cleartext', 'server-identity', ...(expected.warn ?? [])].sort());
  expect(ids('unknown').sort()).toEqual([...(expected.unknown ?? [])].sort());
});

/** What only CONFIG tells. */
function hiddenConfig(): readonly string[] {
  return [
    'databases-count',
    'replica-output-buffer',
    'repl-timeout',
    'diskless-delay',
    'min-replicas',
    'tls-replication',
    'keyspace-notifications',
  ];
}
