import { connect } from 'node:net';
import type { RedisProgram, RedisServer } from '../../fixtures/redis.ts';
import type { BestMethod } from '../row.ts';
import type { Prepared, RedisCase } from './case.ts';

const releases = ['redis-6.0', 'redis-7.0', 'redis-8.0', 'valkey-8.0', 'valkey-9.1'] as const;

/** The best method from each release to those of this order: 6.0, 7.0, 8.0, Valkey 8.0, Valkey 9.1. */
const methods: Readonly<Record<(typeof releases)[number], readonly BestMethod[]>> = {
  'redis-6.0': ['continuous', 'continuous', 'continuous', 'continuous', 'continuous'],
  'redis-7.0': ['blocked', 'continuous', 'continuous', 'continuous', 'continuous'],
  'redis-8.0': ['blocked', 'blocked', 'continuous', 'blocked', 'blocked'],
  'valkey-8.0': ['blocked', 'blocked', 'continuous', 'continuous', 'continuous'],
  'valkey-9.1': ['blocked', 'blocked', 'continuous', 'blocked', 'continuous'],
};

function between(from: RedisProgram, to: RedisProgram, verdict: BestMethod): RedisCase {
  return {
    name: `release: ${from} to ${to}`,
    verdict,
    ...(verdict === 'blocked' ? { reasons: ['version-not-newer'] } : {}),
    ...(from === 'valkey-9.1' && to === 'redis-8.0' ? { unproven: ['target-commands'] } : {}),
    source: { program: from },
    target: () => ({ program: to }),
    ...(from === 'valkey-9.1' && to === 'valkey-8.0'
      ? {
          differs: {
            truth: 'continuous',
            why: 'the service refuses a source that is newer than its target; a copy without the features of the newer one came through',
          },
        }
      : {}),
  };
}

/** A script that Redis 7 and later refuse: each run makes a key on the source alone. */
function runScripts(source: RedisServer): Prepared {
  const socket = connect(source.port, source.host);
  socket.on('data', () => {}).on('error', () => {});
  const end = Date.now() + 3000;
  let at = 0;
  const script = "return redis.call('set', 'script:' .. ARGV[1], tostring(print))";
  const timer = setInterval(() => {
    at += 1;
    if (Date.now() < end) socket.write(`EVAL "${script}" 0 ${at}\r\n`);
  }, 20);
  return {
    async end() {
      clearInterval(timer);
      socket.destroy();
    },
  };
}

/** Every release to every other, and what a release alone has. */
export const releaseCases: readonly RedisCase[] = [
  ...releases.flatMap((from) => releases.map((to, at) => between(from, to, methods[from][at] ?? 'blocked'))),
  {
    name: 'scripts of Redis 6 that are replicated as scripts',
    verdict: 'scan',
    reasons: ['script-replication'],
    filled: [0],
    source: { program: 'redis-6.0', config: ['lua-replicate-commands no'] },
    last: [['eval', "return redis.call('set', 'first', redis.call('smembers', 'set')[1])", '0']],
    before: async (source) => runScripts(source),
  },
  {
    name: 'hash fields that expire, which no Redis takes from a Valkey',
    verdict: 'blocked',
    reasons: ['version-not-newer'],
    source: { program: 'valkey-9.1' },
    target: () => ({ program: 'redis-8.0' }),
    last: [['hexpire', 'hash', '10000', 'fields', '1', 'a']],
  },
  {
    name: 'a library of functions that asks for its release',
    verdict: 'continuous',
    unproven: ['functions-etc'],
    differs: {
      truth: 'scan',
      why: 'the code of a library is not run on another release; the report says so, with the command that does',
    },
    last: [
      [
        'FUNCTION',
        'LOAD',
        "#!lua name=version\nif redis.REDIS_VERSION:sub(1, 3) ~= '7.0' then error('tested with 7.0 only') end\nredis.register_function('f', function(keys, args) return 1 end)",
      ],
    ],
  },
];
