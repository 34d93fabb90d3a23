import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildShareSchemaSql } from '../../../../src/shared-store/postgresql-schema.ts';
import type { TestHost } from '../../../fixtures/host.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { type Postgres, startPostgres } from '../../../fixtures/postgres.ts';
import { eventually, type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import { runCloudctl } from '../../run-cloudctl.ts';
import { shareMachines } from './share-fixture.ts';

/** The operations that a command sends to the store, counted by the server, as docs/guides/fleet.md lists them. */
interface CountingServer {
  readonly url: string;
  /** What the server has received since the last call. */
  take(): Promise<readonly string[]>;
}

const read = 'read_session';
const refresh = ['claim_session', 'commit_session'];

function countStatements(server: () => CountingServer): void {
  const after = async (host: TestHost, words: string): Promise<readonly string[]> => {
    await server().take();
    const ran = await runCloudctl(host, words.split(' '));
    expect([words, ran.code, ran.code === 0 ? '' : ran.err]).toEqual([words, 0, '']);
    return server().take();
  };
  /** A machine with an access token that is valid for so many seconds. */
  const machineWith = async (seconds: number): Promise<TestHost> => {
    const fixture = await shareMachines(server().url);
    const host = await fixture.first();
    await fixture.login(host, seconds);
    return host;
  };

  it('a valid access token: 0 for a command of the API and for --cached, 1 for auth token', async () => {
    const host = await machineWith(3600);
    expect(await after(host, 'auth token')).toEqual([read]);
    expect(await after(host, 'droplets list')).toEqual([]);
    expect(await after(host, 'auth token --cached')).toEqual([]);
    expect(await after(host, 'auth token')).toEqual([read]);
    expect(await after(host, 'auth share status')).toEqual([read]);
    expect(await after(host, 'auth share log')).toEqual(['read_log']);
  });

  it('a machine without a copy: 1', async () => {
    const host = await machineWith(3600);
    expect(await after(host, 'droplets list')).toEqual([read]);
  });

  it('a refresh: 4, and 5 for auth token, which reads the store first', async () => {
    expect(await after(await machineWith(60), 'droplets list')).toEqual([read, read, ...refresh]);
    const host = await machineWith(60);
    expect(await after(host, 'auth token')).toEqual([read, read, read, ...refresh]);
    expect(await after(host, 'auth refresh')).toEqual([read, read, ...refresh]);
  });

  it('a refresh that takes longer: one more each 5 s', async () => {
    const host = await machineWith(60);
    const send: NonNullable<Parameters<typeof runCloudctl>[2]>['send'] = async (options) => {
      const own = await host.createSender(options);
      return async (url, init) => {
        if (String(url).includes('/oauth/token')) await new Promise((resolve) => setTimeout(resolve, 6_000));
        return own(url, init);
      };
    };
    await server().take();
    const ran = await runCloudctl(host, ['droplets', 'list'], { send });
    expect([ran.err, await server().take()]).toEqual([
      '',
      [read, read, 'claim_session', 'renew_claim', 'commit_session'],
    ]);
  });
}

describe('PostgreSQL', () => {
  let server: Postgres;
  let seen = 0;
  beforeAll(async () => {
    server = await startPostgres({ settings: { log_statement: 'all' } });
    await server.query(buildShareSchemaSql());
  });
  afterAll(() => server?.stop());
  countStatements(() => ({
    url: `postgres://postgres:${server.password}@127.0.0.1:${server.port}/postgres`,
    async take() {
      const log = server.log();
      const messages = log.slice(seen).match(/LOG: {2}statement: .*/g) ?? [];
      seen = log.length;
      return messages.map((message) => /SELECT cloudctl_share\.(\w+)/.exec(message)?.[1] ?? message);
    },
  }));
});

/** The scripts have no names, so each is known by a part of its text. */
const scripts: readonly (readonly [part: string, name: string])[] = [
  ['READONLY', read],
  ["log('claim'", 'claim_session'],
  ['tonumber(ARGV[2])', 'renew_claim'],
  ['new_epoch', 'commit_session'],
  ['XREVRANGE', 'read_log'],
];

describe.skipIf(lacks('redis-server', 'redis-cli'))('Redis', () => {
  let server: RedisServer;
  let monitor: ChildProcess;
  let lines = '';
  beforeAll(async () => {
    server = await startRedis({ config: ['appendonly yes'] });
    monitor = spawn('redis-cli', ['-p', `${server.port}`, 'MONITOR'], { stdio: ['ignore', 'pipe', 'ignore'] });
    monitor.stdout?.setEncoding('utf8').on('data', (text: string) => {
      lines += text;
    });
    await eventually(() => lines.startsWith('OK'), 'the monitor');
  });
  afterAll(async () => {
    monitor?.kill();
    await server?.stop();
  });
  countStatements(() => ({
    url: `redis://127.0.0.1:${server.port}/0`,
    async take() {
      const end = randomUUID();
      server.cli('ECHO', end);
      await eventually(() => lines.includes(end), 'the last command');
      // Commands that a script calls are no statements.
      const sent = lines.split('\n').filter((line) => /"(EVAL|XREVRANGE)"/.test(line) && !line.includes(' lua] '));
      lines = '';
      return sent.map((line) => scripts.find(([part]) => line.includes(part))?.[1] ?? line);
    },
  }));
});
