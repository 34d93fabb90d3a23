import { appendFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Secret } from '../../../src/base/secret.ts';
import { eventually, type RedisProgram, type RedisServer } from '../../fixtures/redis.ts';
import type { BestMethod } from '../row.ts';
import type { Prepared, RedisCase } from './case.ts';
import { onceFollowed } from './cases.ts';

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

const everybody = 'user default on nopass ~* &* +@all';

const askingLibrary =
  "#!lua name=version\nif redis.REDIS_VERSION:sub(1, 3) ~= '7.0' then error('tested with 7.0 only') end\nredis.register_function('f', function(keys, args) return 1 end)";

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
    name: 'scripts of Redis 6 that would be replicated as scripts, and none was run',
    verdict: 'continuous',
    unproven: ['script-replication'],
    filled: [0],
    source: { program: 'redis-6.0', config: ['lua-replicate-commands no', 'repl-diskless-sync yes'] },
    before: async (source) =>
      onceFollowed(
        source,
        (at) => `EVAL "return redis.call('set', 'script:' .. ARGV[1], tostring(print))" 0 ${at}\r\n`,
      ),
    differs: {
      truth: 'scan',
      why: 'which scripts will be run is not known beforehand; the report says what must not happen',
    },
  },
  ...['valkey', 'redis-8.0'].map(
    (program): RedisCase => ({
      name: `scripts of Redis 6 that are replicated by their changes, to ${program}`,
      verdict: 'continuous',
      filled: [0],
      source: { program: 'redis-6.0', config: ['repl-diskless-sync yes'] },
      target: () => ({ program: program as RedisProgram }),
      before: async (source) =>
        onceFollowed(source, (at) => `EVAL "return redis.call('set', 'script:' .. ARGV[1], 'x')" 0 ${at}\r\n`),
    }),
  ),
  {
    name: 'REPLCONF renamed, before 7.0',
    verdict: 'scan',
    reasons: ['psync-command'],
    source: { program: 'redis-6.0', config: ['rename-command REPLCONF ""', 'repl-diskless-sync yes'] },
  },
  {
    name: 'a user without REPLCONF, before 7.0',
    verdict: 'scan',
    reasons: ['acl-psync'],
    source: {
      program: 'redis-6.0',
      config: ['repl-diskless-sync yes'],
      acl: ['user default on nopass ~* +@all', 'user mover on >pw ~* +@all -replconf'],
    },
    connection: { username: 'mover', password: new Secret('pw') },
  },
  {
    name: 'a user without REPLCONF, since 7.0',
    verdict: 'continuous',
    source: { acl: [everybody, 'user mover on >pw ~* +@all -replconf'] },
    connection: { username: 'mover', password: new Secret('pw') },
  },
  {
    name: 'a user who may use one database, and replicate',
    verdict: 'continuous',
    source: { program: 'valkey-9.1', acl: [everybody, 'user mover on >pw ~* +@all db=0'] },
    target: () => ({ program: 'valkey-9.1' }),
    connection: { username: 'mover', password: new Secret('pw') },
  },
  {
    name: 'a user who may use one database, and not replicate',
    verdict: 'blocked',
    reasons: ['acl-psync', 'acl-scan'],
    source: { program: 'valkey-9.1', acl: [everybody, 'user mover on >pw ~* +@all -psync -sync db=0'] },
    target: () => ({ program: 'valkey-9.1' }),
    connection: { username: 'mover', password: new Secret('pw') },
  },
  {
    name: 'EXEC is called by another name, before 7.0',
    verdict: 'scan',
    reasons: ['renamed-writes'],
    filled: [0],
    source: { program: 'redis-6.0', config: ['rename-command EXEC hidden-exec', 'repl-diskless-sync yes'] },
    before: async (source) => {
      const transaction = (at: number) => `MULTI\r\nSET m${at} x\r\nSET n${at} x\r\nhidden-exec\r\n`;
      const first = connect(source.port, source.host).on('error', () => {});
      first.write(transaction(0));
      await new Promise((resolve) => first.once('data', resolve));
      first.destroy();
      return onceFollowed(source, transaction);
    },
  },
  {
    name: 'EXEC is called by another name, since 7.0',
    verdict: 'continuous',
    filled: [0],
    source: { config: ['rename-command EXEC hidden-exec'] },
    before: async (source) => onceFollowed(source, (at) => `MULTI\r\nSET m${at} x\r\nSET n${at} x\r\nhidden-exec\r\n`),
  },
  {
    name: 'a library of functions that asks for its release, and FUNCTION is removed',
    verdict: 'continuous',
    unproven: ['functions-etc'],
    before: async (source) => {
      source.cli('FUNCTION', 'LOAD', askingLibrary);
      source.cli('save');
      appendFileSync(join(source.folder, 'redis.conf'), 'rename-command FUNCTION ""\n');
      await source.restart();
      await eventually(() => source.cli('ping') === 'PONG', 'the server');
      return {};
    },
    differs: {
      truth: 'scan',
      why: 'the code of a library is not run on another release; the report says so, with the command that does',
    },
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
    last: [['FUNCTION', 'LOAD', askingLibrary]],
  },
];
