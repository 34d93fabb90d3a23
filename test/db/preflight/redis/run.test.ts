import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Secret } from '../../../../src/base/secret.ts';
import { lacks } from '../../../fixtures/needs.ts';
import { eventually, startRedis } from '../../../fixtures/redis.ts';
import { listen } from '../../../redis/listen.ts';
import { alarms, breakSaving, preflight, withRedis, write } from './real.ts';

/** An address of this machine that is not loopback. */
const outside = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

describe.skipIf(lacks('redis-server', 'redis-cli'))('on a Redis 7.0', () => suite('redis'));
describe.skipIf(lacks('valkey-server', 'redis-cli'))('on a Valkey 8', () => suite('valkey'));

function suite(program: 'redis' | 'valkey'): void {
  test('a healthy server has no finding that fails, warns or is unknown', () =>
    withRedis({ program, setup: [['set', 'k', 'v']] }, async (server) => {
      const { report } = await preflight(server);
      expect(alarms(report)).toEqual([]);
      expect(report).toMatchObject({ engine: 'redis', verdict: 'continuous', ok: true, proven: true });
      expect(report.databases).toEqual([{ name: 'db0', verdict: 'continuous', reasons: [], keys: 1 }]);
      expect(report.source.server_version).toMatch(program === 'redis' ? /^7\.0\./ : /^Valkey 8\./);
    }));

  test('neither has a healthy server with a password, users and TLS', () =>
    withRedis(
      {
        program,
        tls: true,
        acl: ['user default off', 'user admin on >secret ~* &* +@all'],
      },
      async (server) => {
        const parts = { username: 'admin', password: new Secret('secret'), ca: server.ca };
        const { report, finding } = await preflight(server, parts);
        // Whether a target trusts the test authority is not known.
        expect(alarms(report)).toEqual(['redis-tls']);
        expect(report).toMatchObject({ verdict: 'continuous', proven: false });
        expect(finding('redis-tls').observed).toMatch(
          /^TLSv1\.[23], CN=localhost, valid for \d+ days, issued by CN=Test CA$/,
        );
        expect(finding('auth').observed).toBe('AUTH as admin');
      },
    ));

  test('sends only commands that it reports, from a fixed list of read commands', () =>
    withRedis({ program, config: ['slowlog-log-slower-than 0', 'slowlog-max-len 1000'] }, async (server) => {
      server.cli('mset', 'a', '1', 'b', '2');
      server.cli('-n', '1', 'set', 'c', '3');
      server.cli('slowlog', 'reset');
      const before = stat(server.cli('info'), 'rdb_changes_since_last_save');
      const { report, said } = await preflight(server);
      const names = server.cli('--json', 'slowlog', 'get', '-1').matchAll(/\["(?<name>[a-z]+)"/gi);
      const seen = [...new Set([...names].map(({ groups }) => groups!.name!.toUpperCase()))].sort();
      const allowed =
        'ACL CLUSTER COMMAND CONFIG FUNCTION INFO LATENCY MEMORY MODULE PING PUBSUB SCAN SELECT TYPE'.split(' ');
      // The last two are redis-cli's own.
      expect(seen.filter((name) => name !== 'SLOWLOG' && name !== 'HELLO')).toEqual(allowed);
      expect(said.every((line) => allowed.includes(line.split(' ')[0]!))).toBe(true);
      expect(report.queries).toBe(said.length);
      expect(stat(server.cli('info'), 'rdb_changes_since_last_save')).toBe(before);
      expect(stat(server.cli('info'), 'total_forks')).toBe('0');
    }));

  test('a wrong, a missing and a needless password have different findings, and none is shown', () =>
    withRedis({ program, config: ['requirepass "correct horse"'] }, async (server) => {
      const wrong = await preflight(server, { password: new Secret('battery staple') });
      expect(wrong.finding('auth')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
      expect(wrong.finding('auth').observed).toMatch(/^WRONGPASS /);
      expect(wrong.finding('psync-command').status).toBe('skip');
      expect(wrong.report).toMatchObject({ verdict: 'blocked', ok: false });
      expect(JSON.stringify([wrong.report, wrong.said])).not.toContain('battery staple');
      const none = await preflight(server);
      expect(none.finding('auth').observed).toMatch(/^NOAUTH /);
      const right = await preflight(server, { password: new Secret('correct horse') });
      expect(alarms(right.report)).toEqual([]);
    }));

  test('a password for a server without one blocks the migration, as a real replica proves', () =>
    withRedis({ program }, async (server) => {
      const { finding, report } = await preflight(server, { password: new Secret('needless') });
      expect(finding('auth')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
      expect(finding('auth').detail).toContain('Unable to AUTH to MASTER');
      expect(finding('psync-command').status).toBe('pass');
      expect(JSON.stringify(report)).not.toContain('needless');
      // The truth of it: a replica with such a password does not get in.
      await withRedis({ program, config: ['masterauth needless'] }, async (replica) => {
        replica.cli('replicaof', server.host, String(server.port));
        await eventually(() => /Unable to AUTH to (MASTER|PRIMARY)/.test(replica.log()), 'the refusal');
      });
    }));

  test('a server with AUTH renamed quotes the arguments, and the password is not shown', () =>
    withRedis({ program, config: ['rename-command AUTH ""', 'requirepass open-sesame'] }, async (server) => {
      const { report, finding } = await preflight(server, { password: new Secret('open-sesame') });
      expect(finding('auth')).toMatchObject({ status: 'fail', observed: "ERR unknown command 'AUTH'" });
      expect(JSON.stringify(report)).not.toContain('open-sesame');
    }));

  test('a user without PSYNC blocks the continuous migration, and the fix and the undo work', () =>
    withRedis(
      {
        program,
        acl: ['user default on nopass ~* &* +@all', 'user mover on >pw ~* &* +@all -psync -sync -replconf'],
      },
      async (server) => {
        const parts = { username: 'mover', password: new Secret('pw') };
        const before = await preflight(server, parts);
        const finding = before.finding('acl-psync');
        expect(before.report).toMatchObject({ verdict: 'scan', methods: { continuous: false, scan: true }, ok: false });
        expect(finding).toMatchObject({ status: 'fail', blocks: ['continuous'] });
        expect(finding.observed).toContain("'psync'");
        expect(finding.fix?.sql).toEqual(['ACL SETUSER mover +psync +replconf', 'ACL SAVE']);
        const rules = server.cli('acl', 'dryrun', 'mover', 'psync', '?', '-1');
        expect(server.script(finding.fix!.sql!.join('\n'))).toEqual(['OK', 'OK']);
        const after = await preflight(server, parts);
        expect(after.report.verdict).toBe('continuous');
        expect(alarms(after.report)).toEqual([]);
        expect(server.script(finding.fix!.undo!.join('\n'))).toEqual(['OK', 'OK']);
        expect(server.cli('acl', 'dryrun', 'mover', 'psync', '?', '-1')).toBe(rules);
      },
    ));

  test('a user who may only replicate gets unknown findings with the rule to grant', () =>
    withRedis(
      { program, acl: ['user default on nopass ~* &* +@all', 'user mover on >pw ~* +psync +replconf +ping +info'] },
      async (server) => {
        const { report, finding } = await preflight(server, { username: 'mover', password: new Secret('pw') });
        expect(report).toMatchObject({ verdict: 'continuous', proven: false, ok: true });
        expect(finding('acl-psync')).toMatchObject({
          status: 'unknown',
          fix: { sql: ['ACL SETUSER mover +acl|dryrun'], undo: ['ACL SETUSER mover -acl|dryrun'] },
        });
        const grants = report.findings.flatMap(({ fix }) => fix?.sql ?? []);
        expect(grants.filter((sql) => sql === 'ACL SETUSER mover +config|get')).toHaveLength(1);
        expect(['skip', 'unknown']).toContain(finding('replica-output-buffer').status);
        const strict = await preflight(server, { username: 'mover', password: new Secret('pw') }, { strict: true });
        expect(strict.report).toMatchObject({ verdict: 'continuous', ok: false });
        const tried = await preflight(server, { username: 'mover', password: new Secret('pw') }, { probe: true });
        expect(tried.finding('acl-psync').status).toBe('pass');
        expect(tried.finding('psync-command').observed).toMatch(/^PSYNC was accepted/);
      },
    ));

  test('PSYNC and SYNC renamed: only a scan is possible; SYNC alone still works', async () => {
    const renamed = ['rename-command PSYNC ""', 'rename-command SYNC hidden'];
    await withRedis({ program, config: renamed }, async (server) => {
      const { report, finding } = await preflight(server);
      expect(report.verdict).toBe('scan');
      expect(finding('psync-command')).toMatchObject({
        status: 'fail',
        blocks: ['continuous'],
        fix: { restart: true },
      });
      expect(finding('renamed-commands')).toMatchObject({ status: 'warn', objects: ['SYNC', 'PSYNC'] });
      const tried = await preflight(server, {}, { probe: true });
      expect(tried.finding('psync-command').observed).toMatch(/^PSYNC was refused: ERR unknown command/);
    });
    const overDisk = [...renamed.slice(0, 1), 'repl-diskless-sync no'];
    await withRedis({ program, config: overDisk }, async (server) => {
      const { report, finding } = await preflight(server);
      expect(report.verdict).toBe('continuous');
      expect(finding('psync-command').status).toBe('warn');
    });
  });

  test('DUMP renamed: a replica works, and a scan does not', () =>
    withRedis({ program, config: ['rename-command DUMP ""'], setup: [['set', 'k', 'v']] }, async (server) => {
      const { report, finding } = await preflight(server);
      expect(report).toMatchObject({ ok: true, methods: { continuous: true, scan: false } });
      expect(finding('renamed-commands')).toMatchObject({ status: 'fail', blocks: ['scan'], objects: ['DUMP'] });
      expect(finding('acl-scan').status).toBe('pass');
      expect((await preflight(server, {}, { method: 'scan' })).report.ok).toBe(false);
    }));

  test('PING renamed: a replica never connects, even when PSYNC is accepted', () =>
    withRedis({ program, config: ['rename-command PING ""'] }, async (server) => {
      for (const probe of [false, true]) {
        const { report, finding } = await preflight(server, {}, { probe });
        expect(report.verdict).toBe('scan');
        expect(finding('psync-command')).toMatchObject({
          status: 'fail',
          blocks: ['continuous'],
          fix: { restart: true, shell: expect.arrayContaining([expect.stringContaining('PING')]) },
        });
      }
    }));

  test('EXPIRE may have another name, because it is replicated as PEXPIREAT', () =>
    withRedis(
      { program, config: ['rename-command EXPIRE hidden', 'rename-command SETEX hidden-setex'] },
      async (server) => {
        server.cli('hidden-setex', 'k', '100', 'v');
        server.cli('hidden', 'k', '1000');
        expect((await preflight(server)).finding('renamed-writes').status).toBe('pass');
      },
    ));

  test('a renamed write command blocks when it was called, and is a premise otherwise; a removed one is neither', () =>
    withRedis(
      { program, config: ['rename-command INCR hidden-incr', 'rename-command FLUSHALL ""'] },
      async (server) => {
        const before = await preflight(server);
        expect(before.finding('renamed-writes')).toMatchObject({ status: 'unknown', objects: ['INCR'] });
        expect(before.report).toMatchObject({ verdict: 'continuous', proven: false });
        server.cli('hidden-incr', 'n');
        const { report, finding } = await preflight(server);
        expect(report.verdict).toBe('scan');
        expect(finding('renamed-writes')).toMatchObject({ status: 'fail', objects: ['INCR'], fix: { restart: true } });
      },
    ));

  test.each(['FUNCTION', 'XGROUP'])('so does %s, whose subcommands are counted', (name) =>
    withRedis({ program, config: [`rename-command ${name} hidden`] }, async (server) => {
      const subcommand = name === 'FUNCTION' ? ['flush'] : ['create', 'stream', 'group', '0', 'mkstream'];
      server.cli('hidden', ...subcommand);
      const { report, finding } = await preflight(server);
      expect(report.verdict).toBe('scan');
      expect(finding('renamed-writes')).toMatchObject({ status: 'fail', objects: [name] });
    }),
  );

  test('a server that disconnects clients with many pending replies gets one query after the other', () =>
    withRedis({ program, config: ['client-output-buffer-limit normal 1kb 1kb 1'] }, async (server) => {
      server.cli('set', 'a', 'x');
      server.cli('-n', '3', 'set', 'b', 'x');
      const { report, finding } = await preflight(server);
      // The reply to COMMAND INFO alone exceeds the limit.
      expect(report).toMatchObject({
        verdict: 'continuous',
        proven: false,
        databases: [{ name: 'db0' }, { name: 'db3' }],
      });
      expect(finding('redis-connect')).toMatchObject({ status: 'warn' });
      expect(finding('redis-connect').detail).toContain('client-output-buffer-limit');
      expect(finding('psync-command').status).toBe('unknown');
      expect(finding('role-replica').status).toBe('pass');
    }));

  test('a password in the place of the user name is never shown, and the fix shows where it belongs', () =>
    withRedis({ program, config: ['requirepass hunter22'] }, async (server) => {
      const url = `redis://hunter22@${server.host}:${server.port}`;
      const alone = await preflight(server, { url });
      const beside = await preflight(server, { url, environment: { REDISCLI_AUTH: 'another' } });
      for (const { report, said, finding } of [alone, beside]) {
        expect(JSON.stringify([report, said])).not.toContain('hunter22');
        expect(finding('auth')).toMatchObject({ status: 'fail' });
        expect(finding('auth').fix?.text).toContain('redis://:PASSWORD@HOST');
      }
      const right = `redis://:hunter22@${server.host}:${server.port}`;
      expect((await preflight(server, { url: right })).finding('auth').status).toBe('pass');
    }));

  test('without a password the permissions are those of the user default', () =>
    withRedis(
      { program, acl: ['user default on nopass ~* &* +@all -psync -sync', 'user mover on nopass ~* +@all'] },
      async (server) => {
        const { report, finding } = await preflight(server, { username: 'mover' });
        expect(report.verdict).toBe('scan');
        expect(finding('acl-psync').fix?.sql?.[0]).toBe('ACL SETUSER default +psync');
        expect(finding('auth')).toMatchObject({ status: 'warn' });
        const named = await preflight(server, { username: 'mover', password: new Secret('any') });
        expect(named.report.verdict).toBe('continuous');
      },
    ));

  test('a writable replica blocks the continuous migration until it is read-only', () =>
    withRedis({ program }, (primary) =>
      withRedis({ program }, async (server) => {
        server.cli('replicaof', primary.host, String(primary.port));
        await eventually(() => server.cli('info', 'replication').includes('master_link_status:up'), 'the link');
        server.cli('config', 'set', 'replica-read-only', 'no');
        const { report, finding } = await preflight(server);
        expect(report.verdict).toBe('scan');
        server.script(finding('role-replica').fix!.review!.join('\n'));
        expect((await preflight(server)).report.verdict).toBe('continuous');
        server.script(finding('role-replica').fix!.undoReview!.join('\n'));
        expect(server.cli('config', 'get', 'replica-read-only')).toBe('replica-read-only\nno');
      }),
    ));

  test('a cluster that is down blocks a scan too', () =>
    withRedis({ program, config: ['cluster-enabled yes'] }, async (server) => {
      const { report, finding } = await preflight(server);
      expect(report.verdict).toBe('blocked');
      expect(finding('cluster-source').observed).toContain('cluster_state:fail');
    }));

  test('a source with writes at maxmemory blocks, and the fix and the undo work', () =>
    withRedis({ program, config: ['enable-debug-command yes', 'repl-backlog-size 64mb'] }, async (server) => {
      server.cli('config', 'set', 'maxmemory', '40mb');
      const stop = write(server.port);
      const finding = await preflight(server)
        .then((run) => run.finding('source-memory'))
        .finally(stop);
      expect(finding).toMatchObject({ status: 'fail', blocks: ['continuous'] });
      server.script(finding.fix!.sql!.join('\n'));
      expect((await preflight(server)).finding('source-memory').status).toBe('pass');
      server.script(finding.fix!.undoReview!.join('\n'));
      expect(server.cli('config', 'get', 'maxmemory')).toBe(`maxmemory\n${40 * 2 ** 20}`);
    }));

  test('CONFIG hidden: continuous, and not proven', () =>
    withRedis({ program, config: ['rename-command CONFIG ""'] }, async (server) => {
      const { report, finding } = await preflight(server);
      expect(report).toMatchObject({ verdict: 'continuous', proven: false, ok: true });
      expect(finding('managed-blocked')).toMatchObject({ status: 'unknown' });
      expect(finding('managed-blocked').fix?.text).toContain('--probe');
      for (const id of ['databases-count', 'replica-output-buffer', 'repl-timeout', 'min-replicas']) {
        expect(finding(id), id).toMatchObject({ status: 'unknown' });
      }
      const tried = await preflight(server, {}, { probe: true });
      expect(tried.finding('managed-blocked')).toMatchObject({ status: 'info' });
    }));

  test('the probe sends the commands of a replica, disconnects, and leaves nothing behind', () =>
    withRedis({ program, setup: [['set', 'k', 'v']] }, async (server) => {
      const { report, said } = await preflight(server, {}, { probe: true });
      expect(said.slice(said.indexOf('PSYNC "?" -1') - 1)[0]).toMatch(/^REPLCONF capa /);
      expect(report.verdict).toBe('continuous');
      await eventually(() => /connected_slaves:0/.test(server.cli('info', 'replication')), 'the end of the probe');
      await eventually(() => /rdb_bgsave_in_progress:0/.test(server.cli('info')), 'the end of the child');
      expect(alarms((await preflight(server)).report)).toEqual([]);
    }));

  test('INFO hidden: checks that need it are unknown, never passed', () =>
    withRedis({ program, config: ['rename-command INFO ""'] }, async (server) => {
      const { report, finding } = await preflight(server);
      // A migration reads INFO all the time.
      expect(report).toMatchObject({ verdict: 'scan', proven: false, databases: [] });
      expect(finding('psync-command')).toMatchObject({ status: 'fail', blocks: ['continuous'] });
      for (const id of ['version-not-newer', 'databases-count', 'role-replica', 'loading']) {
        expect(finding(id), id).toMatchObject({ status: 'unknown' });
      }
    }));

  test('a shard with all slots is a warning, until slots move or another shard has some', () =>
    withRedis({ program, config: ['cluster-enabled yes'] }, (server) =>
      withRedis({ program, config: ['cluster-enabled yes'] }, async (other) => {
        server.cli('cluster', 'addslotsrange', '0', '16383');
        await eventually(() => server.cli('cluster', 'info').includes('cluster_state:ok'), 'the cluster');
        server.cli('set', 'k', 'v');
        const alone = await preflight(server);
        expect(alone.report).toMatchObject({ verdict: 'continuous', source: { role: { cluster: true } } });
        expect(alone.finding('cluster-source').observed).not.toMatch(/primar/);
        expect(alarms(alone.report)).toEqual(['cluster-source']);
        server.cli('cluster', 'meet', other.host, String(other.port));
        await eventually(() => other.cli('cluster', 'info').includes('cluster_state:ok'), 'the other shard');
        const met = await preflight(server);
        expect(met.finding('cluster-source').observed).toMatch(/\b1 primary\b/);
        const [here, there] = [server.cli('cluster', 'myid'), other.cli('cluster', 'myid')];
        const slot = server.cli('cluster', 'keyslot', 'k');
        other.cli('cluster', 'setslot', slot, 'importing', here);
        server.cli('cluster', 'setslot', slot, 'migrating', there);
        const moving = await preflight(server);
        expect(moving.report.verdict).toBe('blocked');
        expect(moving.finding('cluster-source').observed).toMatch(new RegExp(`: ${slot}$`));
        // The key is on the other shard, and reads are redirected.
        expect(server.cli('migrate', other.host, String(other.port), 'k', '0', '1000')).toBe('OK');
        const asked = await preflight(server);
        expect(asked.report.verdict).toBe('blocked');
        other.cli('cluster', 'setslot', slot, 'node', there);
        server.cli('cluster', 'setslot', slot, 'node', there);
        await eventually(() => server.cli('cluster', 'info').includes('cluster_size:2'), 'the second shard');
        expect((await preflight(server)).finding('cluster-source')).toMatchObject({
          status: 'fail',
          blocks: ['continuous'],
          observed: expect.stringMatching(/: 2$/),
        });
      }),
    ));

  test('a replica is a warning, and blocks when it has lost its primary', () =>
    withRedis({ program, setup: [['set', 'k', 'v']] }, async (primary) =>
      withRedis({ program, config: [`replicaof ${primary.host} ${primary.port}`] }, async (replica) => {
        await eventually(() => replica.cli('info').includes('master_link_status:up'), 'the link');
        const linked = await preflight(replica);
        expect(linked.finding('role-replica')).toMatchObject({ status: 'warn' });
        expect(linked.report.verdict).toBe('continuous');
        const upstream = await preflight(primary);
        expect(alarms(upstream.report)).toEqual([]);
        await primary.stop();
        await eventually(() => replica.cli('info').includes('master_link_status:down'), 'the break');
        const cut = await preflight(replica);
        expect(cut.finding('role-replica')).toMatchObject({ status: 'fail', blocks: ['continuous'] });
        expect(cut.report.verdict).toBe('scan');
        const tried = await preflight(replica, {}, { probe: true });
        expect(tried.finding('role-replica').status).toBe('fail');
        replica.cli('config', 'set', 'replica-serve-stale-data', 'no');
        const mute = await preflight(replica);
        expect(mute.report.verdict).toBe('blocked');
        expect(mute.finding('role-replica').blocks).toEqual(['continuous', 'scan']);
      }),
    ));

  test('keys in database 20 block; a server with more databases is a premise', async () => {
    await withRedis({ program, config: ['databases 32'] }, async (server) => {
      const empty = await preflight(server);
      expect(empty.finding('databases-count')).toMatchObject({ status: 'unknown' });
      expect(empty.report).toMatchObject({ verdict: 'continuous', proven: false });
      server.cli('-n', '20', 'set', 'k', 'v');
      server.cli('-n', '3', 'set', 'k', 'v');
      const { report, finding } = await preflight(server);
      expect(finding('databases-count')).toMatchObject({ status: 'fail', only: ['db20'] });
      expect(finding('multi-db')).toMatchObject({ status: 'warn', objects: ['db3', 'db20'] });
      expect(report.verdict).toBe('blocked');
      expect(report.databases).toEqual([
        { name: 'db3', verdict: 'continuous', reasons: [], keys: 1 },
        { name: 'db20', verdict: 'blocked', reasons: ['databases-count'], keys: 1 },
      ]);
    });
  });

  test('a failed BGSAVE blocks unless the copy is diskless, and the fix and the undo work', () =>
    withRedis({ program, config: ['repl-diskless-sync no'], setup: [['set', 'k', 'v']] }, async (server) => {
      // Its temporary file cannot be made where a folder stands in the way.
      server.cli('config', 'set', 'save', '1 1');
      await breakSaving(server);
      // The save point is due when more than a second has passed since the start.
      await new Promise((resolve) => setTimeout(resolve, 2100));
      const broken = await preflight(server);
      const finding = broken.finding('bgsave-broken');
      expect(finding).toMatchObject({ status: 'fail', blocks: ['continuous'] });
      expect(broken.report.verdict).toBe('scan');
      expect(server.script(finding.fix!.sql!.join('\n'))).toEqual(['OK', 'OK']);
      const cured = await preflight(server);
      expect(cured.finding('bgsave-broken').status).toBe('unknown');
      // A server that was told to save refuses writes, and PING with them: a replica greets in vain.
      expect(cured.report.verdict).toBe('scan');
      const refused = cured.finding('ping-refused');
      expect(refused).toMatchObject({ status: 'fail', blocks: ['continuous'] });
      expect(server.script(refused.fix!.review!.join('\n'))).toEqual(['OK', 'OK']);
      expect((await preflight(server)).report.verdict).toBe('continuous');
      expect(server.script(refused.fix!.undoReview!.join('\n'))).toEqual(['OK', 'OK']);
      expect(server.script(finding.fix!.undo!.join('\n'))).toEqual(['OK', 'OK']);
      expect(server.cli('config', 'get', 'repl-diskless-sync')).toBe('repl-diskless-sync\nno');
    }));

  test('a data folder that is gone blocks a copy by the disk, with a probe too, and the fix works', () =>
    withRedis({ program, config: ['repl-diskless-sync no'], setup: [['set', 'k', 'v']] }, async (server) => {
      const untried = await preflight(server);
      expect(untried.report).toMatchObject({ verdict: 'continuous', proven: false });
      expect(untried.finding('bgsave-broken')).toMatchObject({ status: 'unknown' });
      const tried = await preflight(server, {}, { probe: true });
      expect(tried.report).toMatchObject({ verdict: 'continuous', proven: true });
      await eventually(() => /rdb_bgsave_in_progress:0/.test(server.cli('info')), 'the end of the child');
      rmSync(join(server.folder, 'data'), { recursive: true });
      const gone = await preflight(server);
      expect(gone.report.verdict).toBe('scan');
      expect(gone.finding('bgsave-broken')).toMatchObject({ status: 'fail', blocks: ['continuous'] });
      const probed = await preflight(server, {}, { probe: true });
      expect(probed.report.verdict).toBe('scan');
      expect(probed.finding('bgsave-broken')).toMatchObject({ status: 'fail', blocks: ['continuous'] });
      expect(server.script(probed.finding('bgsave-broken').fix!.sql!.join('\n'))).toEqual(['OK', 'OK']);
      const fixed = await preflight(server, {}, { probe: true });
      expect(fixed.report).toMatchObject({ verdict: 'continuous', proven: true });
    }));

  test('an output buffer that is full before any copy ends blocks, and the fix and the undo work', () => {
    const config = [
      'client-output-buffer-limit replica 512kb 256kb 10',
      'repl-backlog-size 64kb',
      'enable-debug-command yes',
    ];
    return withRedis({ program, config }, async (server) =>
      withRedis({ program, config: [`replicaof ${server.host} ${server.port}`] }, async () => {
        await eventually(() => server.cli('info').includes('state=online'), 'the replica');
        const stop = write(server.port);
        // Each of its keys is there, so the data no longer grows between two preflights.
        await eventually(() => server.cli('dbsize').trim() === '1000', 'all keys');
        // DEBUG is not replicated.
        server.cli('debug', 'populate', '2000', 'filler', '100000');
        try {
          const { report, finding } = await preflight(server);
          const found = finding('replica-output-buffer');
          expect(found, found.detail).toMatchObject({ status: 'fail', blocks: ['continuous'] });
          expect(found.detail).toContain('/s written = ');
          expect(finding('repl-backlog')).toMatchObject({ status: 'warn' });
          expect(report.verdict).toBe('scan');
          const observed = server.cli('config', 'get', 'client-output-buffer-limit');
          expect(server.script(found.fix!.sql!.join('\n'))).toEqual(['OK', 'OK']);
          expect((await preflight(server)).finding('replica-output-buffer')).toMatchObject({ status: 'pass' });
          expect(server.script(found.fix!.undo!.join('\n'))).toEqual(['OK', 'OK']);
          expect(server.cli('config', 'get', 'client-output-buffer-limit')).toBe(observed);
        } finally {
          stop();
        }
      }),
    );
  });

  test('unsuitable settings are warnings, and their fixes and undo lines work', () =>
    withRedis(
      {
        program,
        config: ['min-replicas-to-write 1', 'repl-timeout 5', 'repl-ping-replica-period 5', 'maxclients 4'],
        setup: [['config', 'set', 'notify-keyspace-events', 'KEA']],
      },
      async (server) => {
        const { report, finding } = await preflight(server);
        expect(alarms(report)).toEqual(['repl-timeout', 'min-replicas', 'maxclients']);
        expect(report.verdict).toBe('continuous');
        expect(finding('keyspace-notifications').status).toBe('info');
        const names = ['repl-timeout', 'min-replicas-to-write', 'maxclients'];
        const values = () => names.map((name) => server.cli('config', 'get', name));
        const observed = values();
        const fixes = ['repl-timeout', 'min-replicas', 'maxclients'].map((id) => finding(id).fix!);
        for (const fix of fixes) expect(server.script(fix.sql!.join('\n'))).toEqual(['OK', 'OK']);
        expect(alarms((await preflight(server)).report)).toEqual([]);
        for (const fix of fixes) expect(server.script(fix.undo!.join('\n'))).toEqual(['OK', 'OK']);
        expect(values()).toEqual(observed);
      },
    ));

  test('more data than the memory of the target blocks; an eviction policy is a warning', () =>
    withRedis({ program, config: ['maxmemory 8mb', 'maxmemory-policy allkeys-lru'] }, async (server) => {
      server.cli('set', 'big', 'x'.repeat(100_000));
      const roomy = await preflight(server, {}, { targetMemory: 1e9 });
      expect(roomy.finding('maxmemory')).toMatchObject({ status: 'warn' });
      const { report, finding } = await preflight(server, {}, { targetMemory: 50_000 });
      expect(finding('maxmemory')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
      expect(report.verdict).toBe('blocked');
    }));

  test('a scan loses functions, and replication does not', () =>
    withRedis({ program }, async (server) => {
      server.cli('function', 'load', '#!lua name=lib\nredis.register_function("f", function() return 1 end)');
      const { report, finding } = await preflight(server, {}, { targetVersion: 'redis-6.2' });
      expect(finding('functions-etc')).toMatchObject({ status: 'unknown', observed: '1 functions' });
      expect(report.data_loss).toEqual([]);
      const scan = await preflight(server, {}, { method: 'scan' });
      expect(scan.report.data_loss).toEqual(['1 functions']);
    }));

  test('a TLS setting that does not match the server has another finding than a certificate that is not trusted', async () => {
    await withRedis({ program, tls: true }, async (server) => {
      const plain = await preflight(server, { disableSsl: true });
      expect(plain.finding('redis-tls')).toMatchObject({ status: 'fail', observed: `TLS on port ${server.port}` });
      expect(plain.report.verdict).toBe('blocked');
      const other = await withRedis({ program, tls: true }, (otherServer) =>
        preflight(server, { ca: otherServer.ca!, password: new Secret('not sent') }),
      );
      expect(other.finding('redis-tls')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
      expect(other.finding('redis-tls').observed).toMatch(/certificate/);
    });
    await withRedis({ program }, async (server) => {
      const { finding } = await preflight(server, { disableSsl: false });
      expect(finding('redis-tls')).toMatchObject({ status: 'fail' });
      expect(finding('redis-tls').fix?.text).toContain('--disable-ssl');
    });
    await withRedis({ program, tls: 'clients' }, async (server) => {
      const { finding } = await preflight(server);
      expect(finding('redis-tls')).toMatchObject({ status: 'fail' });
      expect(finding('redis-tls').observed).toContain('tls-auth-clients');
    });
  });

  test('a server that refuses connections, one at maxclients and one that hangs each end in a report', async () => {
    const gone = await withRedis({ program }, async (server) => server);
    const refused = await preflight(gone);
    expect(refused.finding('redis-connect')).toMatchObject({ status: 'fail' });
    expect(refused.report.verdict).toBe('blocked');
    await withRedis({ program, config: ['maxclients 1'] }, async (server) => {
      const stop = write(server.port, 'PING\r\n');
      try {
        await eventually(
          async () => (await preflight(server)).finding('maxclients').status === 'fail',
          'a full server',
        );
      } finally {
        stop();
      }
    });
    const hung = await startRedis({ program });
    try {
      process.kill(hung.pid, 'SIGSTOP');
      const { report, finding } = await preflight(hung, {}, {}, 2000);
      expect(finding('redis-connect')).toMatchObject({ status: 'fail' });
      expect(report.duration_ms).toBeLessThan(6000);
    } finally {
      await hung.stop();
    }
  });

  test('a server that is loading blocks, and the queries that it refuses are skipped', () =>
    withRedis(
      {
        program,
        config: ['enable-debug-command yes', 'loading-process-events-interval-bytes 1024', 'key-load-delay 1000'],
      },
      async (server) => {
        server.cli('debug', 'populate', '5000', 'key', '100');
        const stop = write(server.port, 'DEBUG RELOAD\r\n');
        await eventually(() => server.cli('info').includes('loading:1'), 'the loading');
        const { report, finding } = await preflight(server);
        stop();
        expect(finding('loading')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
        expect(finding('loading').observed).toMatch(/^loading, [\d.]+ % done/);
        expect(finding('big-keys')).toMatchObject({ status: 'skip' });
        expect(report.verdict).toBe('blocked');
      },
    ));

  test('a source that evicts keys during the preflight is a warning', () =>
    withRedis({ program, config: ['maxmemory 5mb', 'maxmemory-policy allkeys-random'] }, async (server) => {
      const stop = write(server.port);
      try {
        await eventually(() => /evicted_keys:[1-9]/.test(server.cli('info', 'stats')), 'an eviction');
        const { finding } = await preflight(server);
        expect(finding('evicting-now')).toMatchObject({ status: 'warn' });
      } finally {
        stop();
      }
      // Commands that were sent before are still executed.
      let evicted: string | undefined;
      let calm = 0;
      await eventually(() => {
        const before = evicted;
        [evicted] = /evicted_keys:\d+/.exec(server.cli('info', 'stats')) ?? [];
        calm = evicted === before ? calm + 1 : 0;
        return calm === 5;
      }, 'the end of the evictions');
      const after = await preflight(server);
      expect(after.finding('evicting-now')).toMatchObject({ status: 'info' });
    }));

  test.skipIf(outside === undefined)('protected mode blocks connections from other machines', () =>
    withRedis({ program, bind: outside! }, async (server) => {
      const { report, finding } = await preflight(server);
      expect(finding('protected-mode')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
      expect(finding('auth').status).toBe('skip');
      expect(report.verdict).toBe('blocked');
      // With a password the error reply may get lost; the check of the password never fails for it.
      const given = await preflight(server, { password: new Secret('given') });
      expect(given.finding('auth').status).toBe('skip');
      const candidates = ['protected-mode', 'redis-connect'].map((id) => given.finding(id));
      expect(candidates.filter(({ status }) => status === 'fail')).toHaveLength(1);
      expect(JSON.stringify(candidates)).toContain('DENIED');
    }),
  );

  test('for a service on the internet, a server on loopback addresses blocks', () =>
    withRedis({ program }, async (server) => {
      const { finding } = await preflight(server, {}, { isOverInternet: true });
      expect(finding('host-public-address').status).toBe('fail');
      expect(finding('protected-mode')).toMatchObject({ status: 'fail', observed: 'bind 127.0.0.1' });
    }));

  test('a server that stops during the queries blocks, and the report is complete', async () => {
    const server = await startRedis({ program });
    try {
      // It accepts the login and then disappears, like a machine that is shut down.
      const { report, finding } = await preflight(server, {}, {}, 20_000, (text) => {
        if (text.startsWith('COMMAND')) process.kill(server.pid, 'SIGKILL');
      });
      expect(finding('redis-connect')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
      expect(report).toMatchObject({ verdict: 'blocked', ok: false });
    } finally {
      await server.stop();
    }
  });

  test('a script that blocks the server is a blocker with the command that ends it, and refused queries are unknown', async () => {
    const server = await startRedis({ program, config: ['lua-time-limit 100'] });
    try {
      const busy = write(server.port, 'EVAL "while true do end" 0\r\n');
      await eventually(() => server.cli('ping').includes('BUSY'), 'a busy server');
      for (const probe of [false, true]) {
        const { report, finding } = await preflight(server, {}, { probe });
        expect(report).toMatchObject({ verdict: 'blocked', ok: false });
        expect(finding('busy-script')).toMatchObject({
          status: 'fail',
          blocks: ['continuous', 'scan'],
          fix: { shell: ['redis-cli SCRIPT KILL'] },
        });
        expect(finding('busy-script').observed).toMatch(/^BUSY /);
        expect(finding('role-replica')).toMatchObject({ status: 'unknown' });
        expect(finding('role-replica').fix?.text).toContain('busy-script');
        expect(finding('psync-command').status).toBe('unknown');
      }
      const waived = await preflight(server, {}, { accept: ['busy-script'] });
      expect(waived.report).toMatchObject({ verdict: 'continuous', proven: false });
      server.cli('script', 'kill');
      await eventually(() => server.cli('ping') === 'PONG', 'the end of the script');
      busy();
      expect(alarms((await preflight(server)).report)).toEqual([]);
    } finally {
      await server.stop();
    }
  });

  test('a function that blocks the server is ended by another command', async () => {
    const server = await startRedis({ program, config: ['lua-time-limit 100'] });
    try {
      const library = 'redis.register_function("f", function() while true do end end)';
      server.cli('function', 'load', `#!lua name=lib\n${library}`);
      const busy = write(server.port, 'FCALL f 0\r\n');
      await eventually(() => server.cli('ping').includes('BUSY'), 'a busy server');
      const { finding } = await preflight(server);
      busy();
      expect(finding('busy-script').fix).toMatchObject({ shell: ['redis-cli FUNCTION KILL'] });
    } finally {
      await server.stop();
    }
  });

  test('a password that is changed before the probe is reported as changed', () =>
    withRedis({ program, config: ['requirepass before'] }, async (server) => {
      let changed = false;
      const parts = { password: new Secret('before') };
      const { report, finding } = await preflight(server, parts, { probe: true }, 20_000, (text) => {
        if (changed || !text.startsWith('INFO')) return;
        changed = true;
        server.cli('-a', 'before', 'config', 'set', 'requirepass', 'after');
      });
      expect(finding('auth')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
      expect(finding('auth').observed).toMatch(/^WRONGPASS /);
      expect(finding('psync-command').status).toBe('pass');
      expect(report.verdict).toBe('blocked');
    }));

  test('a user that is deleted while keys are sampled blocks every method', () =>
    withRedis(
      {
        program,
        acl: ['user default on nopass ~* &* +@all', 'user mover on >pw ~* &* +@all'],
        setup: [['set', 'k', 'v']],
      },
      async (server) => {
        let deleted = false;
        const parts = { username: 'mover', password: new Secret('pw') };
        const { report, finding } = await preflight(server, parts, {}, 20_000, (text) => {
          if (deleted || !text.startsWith('SCAN')) return;
          deleted = true;
          server.cli('acl', 'deluser', 'mover');
        });
        expect(finding('redis-connect')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
        expect(finding('redis-connect').detail).toContain('ACL DELUSER');
        expect(report).toMatchObject({ verdict: 'blocked', ok: false });
      },
    ));

  test('a server at maxclients behind TLS is among the possible reasons', () =>
    withRedis({ program, tls: true, config: ['maxclients 1'] }, async (server) => {
      const held = connect(server.port, '127.0.0.1').on('error', () => {});
      try {
        await eventually(async () => {
          const { report, finding } = await preflight(server);
          return report.verdict === 'blocked' && JSON.stringify(finding('redis-tls').fix).includes('maxclients');
        }, 'a full server');
      } finally {
        held.destroy();
      }
    }));

  test('a replica that refuses reads is recognized, although INFO is denied', () =>
    withRedis(
      {
        program,
        config: ['replicaof 127.0.0.1 1', 'replica-serve-stale-data no'],
        acl: ['user default on nopass ~* &* +@all -info'],
      },
      async (server) => {
        const { report, finding } = await preflight(server);
        expect(finding('role-replica')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
        expect(report.verdict).toBe('blocked');
      },
    ));
}

function stat(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
}

test('another service with replies of another format ends in a report', async () => {
  const nothing = (heard: string) =>
    heard.includes('PING') ? '+PONG\r\n' : '$-1\r\n'.repeat(heard.match(/^\*\d/gm)?.length ?? 0);
  await listen(async (port) => {
    const { report, finding } = await preflight({ host: '127.0.0.1', port, ca: undefined });
    expect(report.verdict).toBe('blocked');
    expect(finding('redis-connect').fix?.text).toContain('6379');
  }, nothing);
});

test('another service that replies OK to every command is not a source', async () => {
  const yes = (heard: string) => '+OK\r\n'.repeat(heard.match(/^\*\d/gm)?.length ?? 0);
  await listen(async (port) => {
    const { report, finding } = await preflight({ host: '127.0.0.1', port, ca: undefined });
    expect(report.verdict).toBe('blocked');
    expect(finding('redis-connect')).toMatchObject({ status: 'fail', blocks: ['continuous', 'scan'] });
  }, yes);
});
