import { describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { type RedisServer, startRedis } from '../../../fixtures/redis.ts';
import { fill, redisClientOptions, scan } from '../../../truth/redis/keys.ts';
import { migrate } from '../../../truth/redis/migrate.ts';
import { redisEndpointOf as redisSourceOf } from '../../engine/servers.ts';
import { preflight } from './real.ts';

interface Expected {
  readonly continuous: boolean;
  readonly scan: boolean;
  /** The first line of the cure, by the check. */
  readonly cures?: Readonly<Record<string, string>>;
  /** Where less may be enough now and then, which nobody should count on. */
  readonly careful?: 'continuous' | 'scan';
}

const works = { continuous: true, scan: true };
const cure = (rules: string) => `ACL SETUSER mover ${rules}`;
const noScan = (rules: string) => ({ continuous: true, scan: false, cures: { 'acl-scan': cure(rules) } });

/** The rules of a user who may everything but this, on a source with keys in two databases. */
const users: Readonly<Record<string, Expected>> = {
  '+@all': works,
  '-info': { continuous: false, scan: true, cures: { 'acl-psync': cure('+info') } },
  '-psync': { ...works, cures: { 'acl-psync': cure('+psync') } },
  '-sync': works,
  '-psync -sync': { continuous: false, scan: true, cures: { 'acl-psync': cure('+psync') } },
  '-psync -replconf': {
    continuous: false,
    scan: true,
    cures: { 'acl-psync': cure('+psync +replconf') },
    careful: 'continuous',
  },
  '-psync -info': { continuous: false, scan: true, cures: { 'acl-psync': cure('+psync +info') } },
  '-ping': works,
  '-config': works,
  '-command': works,
  '-select': noScan('+select'),
  '-select +select|0': noScan('+select'),
  '-scan': noScan('+scan'),
  '-dump': noScan('+dump'),
  '-pttl': noScan('+pttl'),
  '-type': { ...noScan('+type'), careful: 'scan' },
  'resetkeys ~app:*': noScan('~*'),
  'resetkeys %R~*': works,
  '-acl|dryrun -select': noScan('+select'),
  '-acl|dryrun -dump resetkeys ~app:*': noScan('+dump ~*'),
  '-acl -select': noScan('+select +scan +dump +pttl +type'),
  '-info -select': {
    continuous: false,
    scan: false,
    cures: { 'acl-psync': cure('+info'), 'acl-scan': cure('+select') },
  },
  '-@dangerous': { continuous: false, scan: true, cures: { 'acl-psync': cure('+psync +replconf +info') } },
};

const databases = [0, 3];
const mover = { username: 'mover', password: new Secret('pw') };

describe.skipIf(lacks('redis-server', 'valkey-server', 'redis-cli'))('a user with these rights is judged as', () => {
  test.concurrent.each(Object.entries(users))('the migration and the scan turn out: %s', async (rules, expected) => {
    const acl = ['user default on nopass ~* &* +@all', `user mover on >pw ~* &* +@all ${rules}`];
    const servers: RedisServer[] = [];
    const start = async (options: Parameters<typeof startRedis>[0]) => {
      const server = await startRedis(options);
      servers.push(server);
      return server;
    };
    try {
      const source = await start({ acl, config: ['repl-diskless-sync no'] });
      for (const db of databases) await fill(redisClientOptions(source), db);
      const { report, finding } = await preflight(source, mover);
      const { continuous, scan, cures = {}, careful } = expected;
      expect(report.methods).toEqual({ continuous, scan });
      if (careful !== 'continuous') {
        expect(await follows(source, await start({ program: 'valkey' }))).toBe(continuous);
      }
      if (careful !== 'scan') expect(await copies(source, await start({}))).toBe(scan);
      for (const id of ['acl-psync', 'acl-scan']) {
        expect(finding(id).status === 'fail' || finding(id).status === 'warn', id).toBe(id in cures);
        if (id in cures) expect(finding(id).fix?.sql?.[0]).toBe(cures[id]);
      }
      for (const id of Object.keys(cures)) source.script(finding(id).fix?.sql?.join('\n') ?? '');
      expect((await preflight(source, mover)).report.methods).toEqual(works);
      expect(await follows(source, await start({ program: 'valkey' }))).toBe(true);
      expect(await copies(source, await start({}))).toBe(true);
    } finally {
      await Promise.all(servers.map((server) => server.stop()));
    }
  });

  test.each([
    ['-info', 1],
    ['-config', 2],
    ['-config|get', 1],
    ['-@dangerous', 4],
  ])('a missing permission is one finding, not one for each check: %s', async (rules, most) => {
    const source = await startRedis({ acl: ['user default off', `user mover on >pw ~* &* +@all ${rules}`] });
    try {
      const { report } = await preflight(source, mover, { targetVersion: 'redis-7.2' });
      const unknown = report.findings.filter(({ status }) => status === 'unknown');
      const grants = unknown.map(({ fix }) => fix?.sql?.[0]);
      expect(new Set(grants).size).toBe(grants.length);
      expect(unknown.length).toBeGreaterThan(0);
      expect(unknown.length).toBeLessThanOrEqual(most);
      expect(report.proven).toBe(false);
      // What is skipped for it is named.
      const skipped = report.findings.filter(({ status }) => status === 'skip').map(({ id }) => id);
      expect(unknown.flatMap(({ objects = [] }) => objects).toSorted()).toEqual(skipped.toSorted());
    } finally {
      await source.stop();
    }
  });

  test('the cure for keys is taken back to the patterns the user had', async () => {
    const acl = ['user default on nopass ~* &* +@all', 'user mover on >pw resetkeys ~app:* %R~x &* +@all -dump'];
    const source = await startRedis({ acl });
    try {
      const before = source.cli('acl', 'getuser', 'mover');
      const { finding } = await preflight(source, mover);
      const { sql = [], undo = [] } = finding('acl-scan').fix ?? {};
      expect(source.script(sql.join('\n'))).toEqual(['OK', 'OK']);
      expect((await preflight(source, mover)).finding('acl-scan').status).toBe('pass');
      expect(source.script(undo.join('\n'))).toEqual(['OK', 'OK']);
      expect(source.cli('acl', 'getuser', 'mover')).toBe(before);
    } finally {
      await source.stop();
    }
  });

  test('a question is granted by the one right it was refused for, and for keys by no command', async () => {
    const acl = [
      'user default on nopass ~* &* +@all',
      'user few on >pw ~* &* +@all -type',
      'user app on >pw ~app:* +@all',
    ];
    const source = await startRedis({ acl, setup: [['set', 'k', 'v']] });
    try {
      const few = await preflight(source, { ...mover, username: 'few' });
      expect(few.finding('big-keys').fix).toMatchObject({
        sql: ['ACL SETUSER few +type'],
        undo: ['ACL SETUSER few -type'],
      });
      const app = await preflight(source, { ...mover, username: 'app' });
      expect(app.finding('big-keys').fix).toMatchObject({ sql: ['ACL SETUSER app ~*'] });
      expect(app.finding('big-keys').fix?.undo).toBeUndefined();
    } finally {
      await source.stop();
    }
  });
});

/** Whether the engine migrates, with what was written meanwhile. */
async function follows(source: RedisServer, target: RedisServer): Promise<boolean> {
  const endpoint = redisSourceOf(source, { ssl: 'disable', ...mover });
  const plan = {
    connection: endpoint,
    target,
    into: redisClientOptions(target),
    primaries: [redisClientOptions(source)],
    databases,
    patience: 4000,
  };
  return (await migrate(plan)).length === 0;
}

/** Whether every key can be read and written by hand. */
function copies(source: RedisServer, target: RedisServer): Promise<boolean> {
  const from = { ...redisClientOptions(source, 'pw'), username: mover.username };
  return scan([from], redisClientOptions(target), databases).then(
    () => true,
    () => false,
  );
}
