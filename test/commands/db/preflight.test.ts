import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PreflightReport } from '../../../src/preflight/report.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { closedPort, dbTestHost } from './test-source.ts';

describe('db preflight of a source that cannot be reached', () => {
  it('is a report and exit 3, not a failure of the program', async () => {
    const port = await closedPort();
    const words = ['db', 'preflight', '--source', `postgres://u@127.0.0.1:${port}/d`, '--allow-private'];
    const ran = await runCloudctl(dbTestHost(), [...words, '-o', 'json']);
    expect(ran.code).toBe(3);
    expect(ran.error()).toMatchObject({ code: 'preflight_blocked', exit_code: 3 });
    const { verdict, ok, findings, source } = ran.json<PreflightReport>();
    expect({ verdict, ok }).toEqual({ verdict: 'blocked', ok: false });
    expect(source).toMatchObject({ host: '127.0.0.1', port, dbname: 'd', username: 'u' });
    expect(findings.find(({ id }) => id === 'tcp-connect')).toMatchObject({ status: 'fail' });
    expect(findings.find(({ id }) => id === 'wal-level')).toMatchObject({ status: 'skip' });
  });

  it('is one text where a table would be, and rows of findings where a format has rows', async () => {
    const source = `redis://127.0.0.1:${await closedPort()}`;
    const words = ['db', 'preflight', '--source', source, '--allow-private'];
    const text = await runCloudctl(dbTestHost(), words);
    expect(text.code).toBe(3);
    expect(text.out).toMatch(/^No migration is possible yet\.$/m);
    const csv = await runCloudctl(dbTestHost(), [...words, '-o', 'csv', '--format', 'ID,Status']);
    expect(csv.out.split('\r\n')[0]).toBe('ID,Status');
    const one = await runCloudctl(dbTestHost(), [...words, '-o', 'json', '--query', 'verdict']);
    expect(one.out).toBe('"blocked"\n');
  });

  it('writes every file it was asked for, and says which script has nothing to do', async () => {
    const host = dbTestHost();
    const at = (name: string): string => join(host.place.work, name);
    const words = ['db', 'preflight', '--source', `postgres://u@127.0.0.1:${await closedPort()}/d`, '--allow-private'];
    const files = ['--report', at('r.md'), '--report', at('R.HTML'), '--fix-sql', at('fix.sql'), '--baseline', at('b')];
    const ran = await runCloudctl(host, [...words, ...files]);
    expect(ran.code).toBe(3);
    expect(readFileSync(at('r.md'), 'utf8')).toContain('tcp-connect');
    expect(readFileSync(at('R.HTML'), 'utf8')).toContain('<html');
    expect(existsSync(at('fix.sql'))).toBe(false);
    expect(ran.err).toContain('fix.sql was not written: nothing can be cured by a script.');
    const again = await runCloudctl(host, [...words, '--baseline', at('b'), '-o', 'json']);
    expect(again.json<{ changes: unknown[] }>().changes).toEqual([]);
  });
});

describe('what is wrong with the words', () => {
  it.each(['--report', '--fix-sql', '--undo-sql', '--baseline'])(
    'a file of %s that cannot be written is met before the source is asked',
    async (option) => {
      const host = dbTestHost();
      const file = join(host.place.work, 'no-folder', 'r.json');
      const ran = await runCloudctl(host, ['db', 'preflight', '--source', 'redis://127.0.0.1:9', option, file]);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(ran.err).toContain(`could not write ${file}`);
      expect(ran.err).not.toContain('asking the source');
    },
  );

  it('an address of another database names the kinds that are migrated', async () => {
    const ran = await runCloudctl(dbTestHost(), ['db', 'preflight', '--source', 'mysql://h/d']);
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(/the kind mysql[\s\S]*redis:\/\//);
  });
});

describe('an address of this machine', () => {
  it.each([
    ['fails for a service that is elsewhere', { CLOUDCTL_BASE_URL: 'https://api.example.com' }, [], 'fail'],
    ['fails when no service is named', {}, [], 'fail'],
    ['passes for a service on this machine', { CLOUDCTL_BASE_URL: 'http://127.0.0.1:8080' }, [], 'pass'],
    ['passes with --allow-private', { CLOUDCTL_BASE_URL: 'https://api.example.com' }, ['--allow-private'], 'pass'],
    ['fails with --judge-as-public', { CLOUDCTL_BASE_URL: 'http://[::1]:8080' }, ['--judge-as-public'], 'fail'],
  ])('%s', async (_what, env, words, status) => {
    const source = `postgres://u@127.0.0.1:${await closedPort()}/d`;
    const ran = await runCloudctl(dbTestHost(env), ['db', 'preflight', '--source', source, '-o', 'json', ...words]);
    const { findings } = ran.json<PreflightReport>();
    expect(findings.find(({ id }) => id === 'host-public-address')).toMatchObject({ status });
  });
});

describe('wrong words', () => {
  const pg = ['--source', 'postgres://u@127.0.0.1:1/d'];
  const redis = ['--source', 'redis://127.0.0.1:1'];
  it.each<[string, readonly string[], RegExp]>([
    ['no source', [], /the source is missing/],
    ['an address of something else', ['--source', 'http://h'], /an address of the kind http/],
    ['a socket of Redis', ['--source', 'redis+unix:///run/redis.sock'], /unix socket/],
    ['an address of Sentinel', ['--source', 'redis-sentinel://h:26379'], /redis-sentinel:\/\/ is no scheme of Redis/],
    ['a host without an engine', ['--host', 'h'], /--engine/],
    ['an engine that the address contradicts', [...redis, '--engine', 'postgresql'], /the address is of redis/],
    ['ignore-dbs with Redis', [...redis, '--ignore-dbs', 'a'], /--ignore-dbs/],
    ['the method of the other engine', [...pg, '--method', 'scan'], /--method dump/],
    ['the method of the other engine', [...redis, '--method', 'dump'], /--method scan/],
    ['a target that is no version', [...pg, '--target-version', 'new'], /--target-version/],
    ['a socket', ['--source', 'postgres:///d?host=/tmp&user=u'], /Unix-domain socket/],
    ['TLS twice', ['--source', 'postgres://u@h/d?sslmode=require', '--disable-ssl'], /disable-ssl/],
    ['TLS twice', ['--source', 'rediss://h', '--disable-ssl'], /disable-ssl/],
    ['a port twice', ['--source', 'postgres://u@h:1/d', '--port', '2'], /port/],
    ['an unknown finding', [...pg, '--accept', 'wal-levle'], /wal-level/],
    ['a report of no format', [...pg, '--report', 'r.pdf'], /\.sarif/],
    ['a deadline that is none', [...pg, '--deadline', 'soon'], /--deadline/],
    ['free space that is no number', [...pg, '--source-disk-free', '1 TB'], /--source-disk-free/],
    ['a CA file that is not there', [...pg, '--ca-file', '/none.pem'], /none\.pem/],
    ['a password from an empty standard input', [...pg, '--password-stdin'], /standard input is empty/],
  ])('%s is exit 2 with a hint, and nothing on stdout', async (_what, words, said) => {
    const ran = await runCloudctl(dbTestHost(), ['db', 'preflight', '--allow-private', ...words, '-o', 'json'], {
      stdin: '',
    });
    expect(ran.code).toBe(2);
    expect(ran.out).toBe('');
    expect(ran.err).toMatch(said);
    expect(ran.error().code).toBe('usage');
  });

  it('a baseline that is none, or of another source, is left as it is', async () => {
    const host = dbTestHost();
    const file = join(host.place.work, 'baseline.json');
    for (const text of ['{"schema_version":2}', 'no json', '[]']) {
      writeFileSync(file, text);
      const ran = await runCloudctl(host, ['db', 'preflight', ...pg, '--allow-private', '--baseline', file]);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
    const other = ['--source', `postgres://u@127.0.0.1:${await closedPort()}/d`, '--allow-private'];
    writeFileSync(file, (await runCloudctl(host, ['db', 'preflight', ...other, '-o', 'json'])).out);
    const ran = await runCloudctl(host, ['db', 'preflight', ...pg, '--allow-private', '--baseline', file]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain('the baseline is of 127.0.0.1:');
  });

  it('a report that cannot be written is told', async () => {
    const host = dbTestHost();
    const report = join(host.place.work, 'no-folder', 'r.json');
    const ran = await runCloudctl(host, ['db', 'preflight', ...pg, '--allow-private', '--report', report]);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('could not write');
  });
});
