import { connect } from 'node:net';
import type { RedisServer } from '../../fixtures/redis.ts';
import type { Prepared, RedisCase } from './case.ts';

/** What applications write while the copy is made: what the target does with it, and how much of it there is. */
export const streamCases: readonly RedisCase[] = [
  {
    name: 'the default limits, and 7 MB are written each second',
    verdict: 'continuous',
    filled: [0],
    source: { config: ['client-output-buffer-limit replica 256mb 64mb 60', 'enable-debug-command yes'] },
    last: [['debug', 'populate', '20000', 'filler', '1000']],
    before: async (source) =>
      say(source, (at) => Array.from({ length: 70 }, (_, one) => `SET k${(at * 70 + one) % 5000} ${kilobytes}`)),
  },
  {
    name: 'SET IFEQ, which Redis 8.0 does not know',
    verdict: 'continuous',
    unproven: ['target-commands'],
    filled: [0],
    source: { program: 'valkey-9.1' },
    target: () => ({ program: 'redis-8.0' }),
    before: async (source) => say(source, ifEqual, 5000),
    differs: {
      truth: 'blocked',
      why: 'INFO counts no options of commands; the report names the option and what to look for',
    },
  },
  {
    name: 'SET IFEQ from a Valkey to a Valkey',
    verdict: 'continuous',
    filled: [0],
    source: { program: 'valkey-9.1' },
    target: () => ({ program: 'valkey-9.1' }),
    before: async (source) => say(source, ifEqual, 5000),
  },
  {
    name: 'hash fields that expired once, and no Redis would take',
    verdict: 'continuous',
    unproven: ['target-commands'],
    source: { program: 'valkey-9.1' },
    target: () => ({ program: 'redis-8.0' }),
    last: [
      ['hexpire', 'hash', '10000', 'fields', '1', 'a'],
      ['hpersist', 'hash', 'fields', '1', 'a'],
    ],
  },
  {
    name: 'writes into a database above those of the target, which is empty at the moment',
    verdict: 'continuous',
    unproven: ['databases-count'],
    filled: [0],
    source: { config: ['databases 32'] },
    before: async (source) => say(source, () => ['SELECT 20', 'SADD set a b', 'SREM set a b'], 5000),
    differs: {
      truth: 'scan',
      why: 'which databases will be selected is not known beforehand; the report says what must not happen',
    },
  },
  {
    name: 'as many databases on the target as on the source',
    verdict: 'continuous',
    filled: [0, 20],
    source: { config: ['databases 32'] },
    target: () => ({ program: 'valkey', config: ['databases 64'] }),
    options: { targetDatabases: 64 },
  },
  {
    name: 'EXPIRE and SETEX are called by other names, and replicated as PEXPIREAT and SET',
    verdict: 'continuous',
    filled: [0],
    source: { config: ['rename-command EXPIRE xexpire', 'rename-command SETEX xsetex'] },
    before: async (source) =>
      say(source, (at) => [`SET z${at} x`, `xexpire z${at} 1`, `xsetex y${at} 1000 x`, `xexpire y${at} 2000`], 5000),
  },
];

/** The result of BITOP is a key, or none where the change by SET IFEQ has arrived. */
const ifEqual = (at: number) => [`SET d${at} x`, `SET v${at} a`, `SET v${at} "" IFEQ a`, `BITOP NOT d${at} v${at}`];

const kilobytes = 'x'.repeat(2000);

/** An application that says some lines every 20 ms, for so many milliseconds: a scan needs a source that holds still. */
function say(
  source: RedisServer,
  lines: (at: number) => readonly string[],
  lasting = Number.POSITIVE_INFINITY,
): Prepared {
  const socket = connect(source.port, source.host);
  const end = Date.now() + lasting;
  let at = 0;
  socket.on('data', () => {}).on('error', () => {});
  const timer = setInterval(() => {
    at += 1;
    if (Date.now() < end) socket.write(`${lines(at).join('\r\n')}\r\n`);
  }, 20);
  return {
    async end() {
      clearInterval(timer);
      socket.destroy();
    },
  };
}
