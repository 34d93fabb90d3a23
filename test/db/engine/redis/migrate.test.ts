import { connect, type Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { cleanUpFromJournal } from '../../../../src/db/engine/engine.ts';
import type { EngineSystem } from '../../../../src/db/engine/input.ts';
import { memoryJournal } from '../../../../src/db/engine/journal.ts';
import { connectRedis } from '../../../../src/redis/connection.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { type RedisOptions, type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import {
  beginMigration,
  makeRedisJob,
  redisEndpointOf,
  shortEngineLimits,
  testEngineDependencies,
  waitForState,
  waitUntil,
} from '../servers.ts';

async function server(options: RedisOptions = {}) {
  const one = await startRedis(options);
  onTestFinished(() => one.stop());
  return one;
}

/** Commands time out as soon as connections, so that a stopped server is noticed within a test. */
const impatient: EngineSystem['connectRedis'] = async (source, options) => {
  const session = await connectRedis(source, options);
  return { ...session, send: (command, limit = 500) => session.send(command, limit) };
};

/** Sends inline commands over a connection that stays open. */
function sendLines({ host, port }: RedisServer, ...lines: readonly string[]): Socket {
  const socket = connect(port, host).on('error', () => {});
  socket.resume().write(lines.map((line) => `${line}\r\n`).join(''));
  return socket;
}

function keepBusy(source: RedisServer): Socket {
  return sendLines(source, 'CONFIG SET lua-time-limit 50', 'EVAL "while true do end" 0');
}

function isBusy(source: RedisServer): boolean {
  return source.cli('INFO').includes('BUSY');
}

const users = [
  'user default on >de\'f"ault~p ~* &* +@all',
  'user mover on >mo"ver\\word ~* &* +psync +replconf +ping +info',
];

describe.skipIf(lacks('redis-server', 'valkey-server'))('a Redis migration', () => {
  test('fills the target, follows what is written, and leaves it alone with its keys and its settings when it is stopped', async () => {
    const source = await server({ acl: users });
    const target = await server({ program: 'valkey', config: ['masteruser before', 'masterauth "was there"'] });
    const speak = (...words: readonly string[]) => source.cli('--no-auth-warning', '-a', `de'f"ault~p`, ...words);
    speak('SET', 'a', '1');
    speak('-n', '3', 'SET', 'b', '2');
    const endpoint = redisEndpointOf(source, { username: 'mover', password: new Secret('mo"ver\\word') });
    const migration = beginMigration(makeRedisJob(endpoint, redisEndpointOf(target)));
    await waitForState(migration, ({ status, databases }) => status === 'syncing' && databases.length === 2);
    speak('-n', '3', 'SET', 'c', 'later');
    await waitUntil(async () => target.cli('-n', '3', 'GET', 'c') === 'later', 'the key');
    await waitForState(migration, ({ databases }) => databases[1]?.tables[0]?.rows === 2);
    expect(migration.state()).toMatchObject({
      status: 'syncing',
      method: 'continuous',
      databases: [
        { name: 'db0', phase: 'streaming', tables: [{ name: 'keys', stage: 'r', rows: 1 }] },
        { name: 'db3', phase: 'streaming', tables: [{ name: 'keys', stage: 'r', rows: 2 }] },
      ],
    });
    expect(await migration.stop()).toEqual([]);
    expect(await migration.ended).toMatchObject({ status: 'canceled', reason: 'stopped_by_user' });
    expect(target.cli('INFO', 'replication')).toContain('role:master');
    expect(target.cli('CONFIG', 'GET', 'masteruser')).toBe('masteruser\nbefore');
    expect(target.cli('CONFIG', 'GET', 'masterauth')).toBe('masterauth\nwas there');
    expect([target.cli('GET', 'a'), target.cli('-n', '3', 'GET', 'b')]).toEqual(['1', '2']);
    expect(target.log()).not.toContain('ver\\word');
  });

  test('goes over TLS unless the request says otherwise', async () => {
    const source = await server({ tls: true });
    // A replica trusts the authority that its own configuration names.
    const target = await server({ tls: true, config: [`tls-ca-cert-file ${source.ca?.file}`] });
    source.cli('SET', 'a', '1');
    const migration = beginMigration(
      makeRedisJob(redisEndpointOf(source, { ssl: 'require' }), redisEndpointOf(target, { ssl: 'require' })),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    expect(target.cli('GET', 'a')).toBe('1');
    await migration.stop();
    expect(target.cli('CONFIG', 'GET', 'tls-replication')).toBe('tls-replication\nno');
  });

  test('ends with a reason when the target cannot replicate', async () => {
    const source = await server({ config: ['rename-command PSYNC ""', 'rename-command SYNC ""'] });
    const target = await server();
    const ports = testEngineDependencies({ limits: { ...shortEngineLimits, outageTimeout: 1500 } });
    const state = await beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)), ports).ended;
    expect(state).toMatchObject({ status: 'error', databases: [{ phase: 'error', error: state.reason }] });
    expectGolden('db-migrate', state.reason ?? '');
    expect(target.cli('INFO', 'replication')).toContain('role:master');
  });

  test.each([
    {
      why: 'a script keeps the source busy',
      impair: (source: RedisServer) => {
        const script = keepBusy(source);
        return () => {
          source.cli('SCRIPT', 'KILL');
          script.destroy();
        };
      },
    },
    {
      why: 'the source is stopped',
      impair: (source: RedisServer) => {
        process.kill(source.pid, 'SIGSTOP');
        return () => void process.kill(source.pid, 'SIGCONT');
      },
    },
    {
      why: 'the source has too many clients',
      impair: (source: RedisServer) => {
        const admin = sendLines(source, 'CONFIG SET maxclients 1', 'CLIENT KILL TYPE normal SKIPME yes');
        return () => {
          admin.end('CONFIG SET maxclients 1000\r\n');
        };
      },
    },
  ])('goes on after $why, and says so meanwhile', async ({ impair }) => {
    const [source, target] = await Promise.all([server(), server()]);
    source.cli('SET', 'a', '1');
    const limits = { ...shortEngineLimits, connectTimeout: 500, outageTimeout: 60_000 };
    const migration = beginMigration(
      makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)),
      testEngineDependencies({ limits, connectRedis: impatient }),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    const repair = impair(source);
    onTestFinished(repair);
    const { status, reason } = await waitForState(
      migration,
      ({ databases }) => databases[0]?.phase === 'source_unreachable',
    );
    expect([status, reason]).toEqual(['running', expect.stringContaining('db0: ')]);
    repair();
    await waitForState(migration, ({ status: now }) => now === 'syncing');
    expect(migration.state()).toMatchObject({
      reason: undefined,
      databases: [{ phase: 'streaming', reason: undefined }],
    });
    source.cli('SET', 'b', '2');
    await waitUntil(async () => target.cli('GET', 'b') === '2', 'the key');
    await migration.stop();
  });

  test('shows a replication link that is down as a phase, until it is up again', async () => {
    const source = await server({ acl: users });
    const target = await server();
    const migration = beginMigration(
      makeRedisJob(
        redisEndpointOf(source, { username: 'mover', password: new Secret('mo"ver\\word') }),
        redisEndpointOf(target),
      ),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    const speak = (...words: readonly string[]) => source.cli('--no-auth-warning', '-a', `de'f"ault~p`, ...words);
    speak('ACL', 'SETUSER', 'mover', '-psync');
    speak('CLIENT', 'KILL', 'TYPE', 'replica');
    const { status, databases } = await waitForState(migration, (state) => state.databases[0]?.phase === 'link_down');
    expect(status).toBe('running');
    expectGolden('db-migrate', databases[0]?.reason ?? '');
    speak('ACL', 'SETUSER', 'mover', '+psync');
    const state = await waitForState(migration, (now) => now.status === 'syncing');
    expect(state).toMatchObject({ reason: undefined, databases: [{ phase: 'streaming' }] });
    await migration.stop();
  });

  test('is not in sync while the target is a replica of another server', async () => {
    const [source, target, other] = await Promise.all([server(), server(), server()]);
    const migration = beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)));
    await waitForState(migration, ({ status }) => status === 'syncing');
    target.cli('REPLICAOF', other.host, String(other.port));
    const { status, databases } = await waitForState(migration, (state) => state.databases[0]?.phase === 'link_down');
    expect(status).toBe('running');
    expectGolden('db-migrate', databases[0]?.reason ?? '');
    expect(databases[0]?.lagBytes).toBeUndefined();
    await migration.stop();
  });

  test('begins when the source is busy only for a while', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    const script = keepBusy(source);
    await waitUntil(async () => isBusy(source), 'the busy source');
    const migration = beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)));
    const waiting = await waitForState(migration, ({ databases }) => databases[0]?.phase === 'server_busy');
    expect([waiting.status, waiting.reason]).toEqual(['running', expect.stringContaining('BUSY')]);
    source.cli('SCRIPT', 'KILL');
    script.destroy();
    await waitForState(migration, ({ status }) => status === 'syncing');
    await migration.stop();
  });

  test('refuses a target that contains keys', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    target.cli('SET', 'mine', '1');
    const state = await beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target))).ended;
    expect(state.status).toBe('error');
    expectGolden('db-migrate', state.reason ?? '');
    expect(target.cli('GET', 'mine')).toBe('1');
  });

  test('of a source without a key follows it, and the first key arrives', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    const migration = beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)));
    const { databases } = await waitForState(migration, ({ status }) => status === 'syncing');
    expect(databases).toMatchObject([{ name: 'db0', phase: 'streaming', tables: [{ stage: 'r', rows: 0 }] }]);
    source.cli('-n', '3', 'SET', 'first', '1');
    await waitUntil(async () => target.cli('-n', '3', 'GET', 'first') === '1', 'the key');
    await migration.stop();
  });

  test('refuses a target that is older, and names the product of both', async () => {
    const [source, target] = await Promise.all([server({ program: 'valkey' }), server()]);
    const state = await beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target))).ended;
    expect(state.status).toBe('error');
    expectGolden('db-migrate', state.reason?.replaceAll(/\d+\.\d+\.\d+/g, 'N.N.N') ?? '');
  });

  test('refuses a target with too few databases, which would end it', async () => {
    const [source, target] = await Promise.all([server(), server({ config: ['databases 1'] })]);
    source.cli('-n', '3', 'SET', 'a', '1');
    const state = await beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target))).ended;
    expect(state.status).toBe('error');
    expectGolden('db-migrate', state.reason ?? '');
    expect(target.cli('PING')).toBe('PONG');
    source.cli('-n', '3', 'DEL', 'a');
    const migration = beginMigration(makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)));
    await waitForState(migration, ({ status }) => status === 'syncing');
    await migration.stop();
  });

  test('is done when nothing was left to replicate for a minute of the virtual clock', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    source.cli('SET', 'a', '1');
    let now = 0;
    const migration = beginMigration(
      makeRedisJob(redisEndpointOf(source), redisEndpointOf(target), { finishWhenIdle: true }),
      testEngineDependencies({ now: () => now }),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    source.cli('SET', 'b', '2');
    const clock = setInterval(() => {
      now += 60_000;
    }, 300);
    expect(await migration.ended).toMatchObject({ status: 'done' });
    clearInterval(clock);
    expect(target.cli('GET', 'b')).toBe('2');
    expect(target.cli('INFO', 'replication')).toContain('role:master');
  });

  test('that was cut off by the end of its process is ended by the next one, from the journal', async () => {
    const [source, target] = await Promise.all([server(), server()]);
    source.cli('SET', 'a', '1');
    const journal = memoryJournal();
    const migration = beginMigration(
      makeRedisJob(redisEndpointOf(source), redisEndpointOf(target)),
      testEngineDependencies({ journal }),
    );
    await waitForState(migration, ({ status }) => status === 'syncing');
    const left = memoryJournal();
    for (const entry of journal.pending()) left.recordIntent(entry);
    expect(await cleanUpFromJournal(testEngineDependencies({ journal: left }))).toEqual([]);
    expect(left.pending()).toEqual([]);
    expect(target.cli('INFO', 'replication')).toContain('role:master');
    await migration.stop();
  });
});
