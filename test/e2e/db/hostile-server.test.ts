import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { type Ran, start } from '../../fixtures/cli.ts';
import { makeFolders } from '../../fixtures/folders.ts';
import {
  cleartextServer,
  floodingProxy,
  type HostileBehavior,
  type HostileServer,
  hostileBehaviors,
  hostileTlsBehaviors,
  startHostileServer,
} from '../../fixtures/hostile-postgres.ts';
import { hostileRedisBehaviors } from '../../fixtures/hostile-redis.ts';
import { startPostgres } from '../../fixtures/postgres.ts';

const servers: HostileServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

/** MB of memory that the program may use at its highest point. */
const maxMemory = 200;

async function runAgainst(
  behavior: HostileBehavior,
  args: readonly string[],
  limit = 40_000,
  address = '127.0.0.1',
): Promise<Ran & { readonly peak: number; readonly took: number }> {
  const server = await startHostileServer(behavior, address);
  servers.push(server);
  const began = Date.now();
  const source = `postgres://u@${address}:${server.port}/d`;
  const env = { PGPASSWORD: 's3cret', REDISCLI_AUTH: 's3cret', CLOUDCTL_REHEARSE_INTO_PASSWORD: 's3cret' };
  const running = start(
    [...args.map((word) => word.replace('SOURCE', source).replace('PORT', String(server.port))), '-o', 'json'],
    {
      folders: makeFolders(),
      env,
      limit,
    },
  );
  running.child.stdin?.end('');
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, peakMemory(running.pid));
  }, 20);
  try {
    const ran = await running.ended;
    return { ...ran, peak, took: Date.now() - began };
  } finally {
    clearInterval(timer);
  }
}

function peakMemory(pid: number): number {
  try {
    return Number(/^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

const cases = [
  ...Object.entries(hostileBehaviors).map(([name, behavior]) => ({ name, behavior, more: ['--disable-ssl'] })),
  ...Object.entries(hostileTlsBehaviors).map(([name, behavior]) => ({ name, behavior, more: [] })),
];

describe('a server that', () => {
  test.each(cases)('$name does not harm a preflight', async ({ behavior, more }) => {
    const ran = await runAgainst(behavior, [
      'db',
      'preflight',
      '--source',
      'SOURCE',
      '--allow-private',
      '--deadline',
      '15s',
      ...more,
    ]);
    expect.soft(ran.code).toBe(3);
    expect.soft(ran.peak).toBeLessThan(maxMemory);
    expect.soft(ran.took).toBeLessThan(25_000);
  });
});

describe('the other commands end as well', () => {
  const behaviors = [
    'announces an error of 2 GB',
    'sends an error without its end',
    'sends rows before the login',
    'sends endless small rows',
    'sends endless results',
    'announces a row of 2 GB',
  ];
  const commands = [
    { name: 'watch', words: ['db', 'watch'], code: 3 },
    { name: 'sequences', words: ['db', 'sequences'], code: 3 },
    { name: 'rehearse', words: ['db', 'rehearse', '--yes', '--into', 'SOURCE?sslmode=disable'], code: 6 },
  ];
  test.each(commands.flatMap((command) => behaviors.map((behavior) => ({ ...command, behavior }))))(
    '$name: a server that $behavior',
    async ({ words, behavior, code }) => {
      const args = [...words, '--source', 'SOURCE', '--disable-ssl'];
      const ran = await runAgainst(hostileBehaviors[behavior]!, args);
      expect.soft(ran.code).toBe(code);
      expect.soft(ran.peak).toBeLessThan(maxMemory);
      expect.soft(ran.took).toBeLessThan(25_000);
    },
  );
});

describe('a man in the middle of all sessions', () => {
  test('cannot fill the memory by flooding them together', async () => {
    const real = await startPostgres({
      version: 18,
      setup: Array.from({ length: 8 }, (_, at) => `CREATE DATABASE d${at}`),
    });
    await real.query("CREATE ROLE u SUPERUSER LOGIN PASSWORD 's3cret'");
    const args = ['db', 'preflight', '--source', 'SOURCE0', '--allow-private', '--deadline', '20s', '--disable-ssl'];
    const ran = await runAgainst(floodingProxy(real.port), args);
    expect.soft(ran.peak).toBeLessThan(maxMemory);
    expect.soft(ran.took).toBeLessThan(30_000);
  });
});

describe('a Redis server that', () => {
  const redis = (words: readonly string[]) => [...words, '--engine', 'redis', '--host', '127.0.0.1', '--port', 'PORT'];
  const preflight = redis(['db', 'preflight', '--allow-private', '--deadline', '15s', '--disable-ssl']);
  test.each(Object.entries(hostileRedisBehaviors))('%s does not harm a preflight', async (name, behavior) => {
    const ran = await runAgainst(behavior, preflight);
    // Errors for every command leave every check unknown, which blocks nothing.
    expect.soft(ran.code).toBe(name === 'sends endless errors' ? 0 : 3);
    expect.soft(ran.peak).toBeLessThan(maxMemory);
    expect.soft(ran.took).toBeLessThan(25_000);
  });
  test.each(['announces a reply of 2 GB', 'nests large arrays', 'sends a negative length'])(
    '%s does not harm a watch',
    async (name) => {
      const ran = await runAgainst(hostileRedisBehaviors[name]!, redis(['db', 'watch', '--disable-ssl']));
      expect.soft(ran.code).toBe(3);
      expect.soft(ran.peak).toBeLessThan(maxMemory);
    },
  );
});

const outside = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

describe.skipIf(outside === undefined)('a server with a self-signed certificate that requests clear text', () => {
  const commands = [
    { name: 'preflight', words: ['db', 'preflight', '--allow-private'], code: 3 },
    { name: 'watch', words: ['db', 'watch'], code: 3 },
    { name: 'sequences', words: ['db', 'sequences'], code: 3 },
    { name: 'rehearse', words: ['db', 'rehearse', '--yes', '--into', 'SOURCE?sslmode=SSLMODE'], code: 6 },
  ];
  const cases = commands.flatMap((command) => ['require', 'disable'].map((sslmode) => ({ ...command, sslmode })));
  test.each(cases)('does not get the password from $name (sslmode=$sslmode)', async ({ words, code, sslmode }) => {
    const passwords: string[] = [];
    const behavior = cleartextServer((password) => passwords.push(password));
    const ran = await runAgainst(
      behavior,
      [...words, '--source', 'SOURCE?sslmode=SSLMODE'].map((word) => word.replace('SSLMODE', sslmode)),
      40_000,
      outside,
    );
    expect(ran.code).toBe(code);
    expect(passwords).toEqual([]);
  });

  test('is a finding of the preflight, and gets the password when that is allowed', async () => {
    const passwords: string[] = [];
    const behavior = cleartextServer((password) => passwords.push(password));
    const args = ['db', 'preflight', '--source', 'SOURCE', '--allow-private'];
    const ran = await runAgainst(behavior, args, 40_000, outside);
    const { findings } = ran.json<{ readonly findings: readonly { readonly id: string; readonly status: string }[] }>();
    expect(findings.filter(({ status }) => status === 'fail').map(({ id }) => id)).toEqual(['auth-method']);
    await runAgainst(behavior, [...args, '--allow-cleartext-password'], 40_000, outside);
    expect(new Set(passwords)).toEqual(new Set(['s3cret']));
  });
});
