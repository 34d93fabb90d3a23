import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { validReport } from '../../fixtures/report-schema.ts';
import { runCloudctl } from '../run-cloudctl.ts';
import { countingSource, dbTestHost } from './test-source.ts';

/** The error and the notes on stderr, without the report's file folder and ports. */
function messages(err: string, folder: string): string {
  return err.replaceAll(folder, 'FOLDER').replaceAll(/127\.0\.0\.1:\d+/g, 'SERVER');
}

describe('db preflight of a source that cannot be reached', () => {
  it('is a report and exit 3, not a failure of the program', async () => {
    const port = await closedPort();
    const words = ['db', 'preflight', '--source', `postgres://u@127.0.0.1:${port}/d`, '--allow-private'];
    const ran = await runCloudctl(dbTestHost(), [...words, '-o', 'json']);
    expect(ran.code).toBe(3);
    expect(ran.error()).toMatchObject({ code: 'preflight_blocked', exit_code: 3 });
    const { verdict, ok, findings, source } = validReport(ran.json<PreflightReport>());
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
    expect(text.out).toContain('redis-connect');
    expect(text.out).not.toMatch(/^ID\b/m);
    const csv = await runCloudctl(dbTestHost(), [...words, '-o', 'csv', '--format', 'ID,Status']);
    expect(csv.out.split('\n')[0]).toBe('ID,Status');
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
    expectGolden('db-preflight', messages(ran.err, host.place.work));
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
      expectGolden('db-preflight', messages(ran.err, host.place.work));
    },
  );

  it.each([
    ['a rate without --deep', 'postgres', ['--deep-rate', '10']],
    ['a time limit without --deep', 'postgres', ['--deep-timeout', '1h']],
    ['a rate of zero', 'postgres', ['--deep', '--deep-rate', '0']],
    ['a negative rate', 'postgres', ['--deep', '--deep-rate=-5']],
    ['a rate that is no number', 'postgres', ['--deep', '--deep-rate', 'fast']],
    ['rows of Redis', 'redis', ['--deep']],
  ])('%s is refused before the source is asked', async (_what, engine, options) => {
    const source = await countingSource();
    const words = ['db', 'preflight', '--source', `${engine}://u@127.0.0.1:${source.port}`, ...options];
    const ran = await runCloudctl(dbTestHost(), words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(source.asked()).toBe(0);
    expectGolden('db-preflight', ran.err);
  });

  it('an address of another database names the kinds that are migrated', async () => {
    const ran = await runCloudctl(dbTestHost(), ['db', 'preflight', '--source', 'mysql://h/d']);
    expect(ran.code).toBe(2);
    expectGolden('db-preflight', ran.err);
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
    const { findings } = validReport(ran.json<PreflightReport>());
    expect(findings.find(({ id }) => id === 'host-public-address')).toMatchObject({ status });
  });
});

describe('wrong words', () => {
  const pg = ['--source', 'postgres://u@127.0.0.1:1/d'];
  const redis = ['--source', 'redis://127.0.0.1:1'];
  it.each<[string, readonly string[]]>([
    ['no source', []],
    ['an address of something else', ['--source', 'http://h']],
    ['a socket of Redis', ['--source', 'redis+unix:///run/redis.sock']],
    ['an address of Sentinel', ['--source', 'redis-sentinel://h:26379']],
    ['a host without an engine', ['--host', 'h']],
    ['an engine that the address contradicts', [...redis, '--engine', 'postgresql']],
    ['ignore-dbs with Redis', [...redis, '--ignore-dbs', 'a']],
    ['the method of the other engine', [...pg, '--method', 'scan']],
    ['the method of the other engine', [...redis, '--method', 'dump']],
    ['a target that is no version', [...pg, '--target-version', 'new']],
    ['a socket', ['--source', 'postgres:///d?host=/tmp&user=u']],
    ['TLS twice', ['--source', 'postgres://u@h/d?sslmode=require', '--disable-ssl']],
    ['TLS twice', ['--source', 'rediss://h', '--disable-ssl']],
    ['a port twice', ['--source', 'postgres://u@h:1/d', '--port', '2']],
    ['an unknown finding', [...pg, '--accept', 'wal-levle']],
    ['a report of no format', [...pg, '--report', 'r.pdf']],
    ['a deadline that is none', [...pg, '--deadline', 'soon']],
    ['free space that is no number', [...pg, '--source-disk-free', '1 TB']],
    ['a CA file that is not there', [...pg, '--ca-file', '/none.pem']],
    ['a password from an empty standard input', [...pg, '--password-stdin']],
  ])('%s is exit 2 with a hint, and nothing on stdout', async (_what, words) => {
    const ran = await runCloudctl(dbTestHost(), ['db', 'preflight', '--allow-private', ...words, '-o', 'json'], {
      stdin: '',
    });
    expect(ran.code).toBe(2);
    expect(ran.out).toBe('');
    expectGolden('db-preflight', `${ran.error().message}\n${ran.error().hint}`, words.join(' '));
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
    expectGolden('db-preflight', messages(ran.err, host.place.work));
  });

  it('a report that cannot be written is told', async () => {
    const host = dbTestHost();
    const report = join(host.place.work, 'no-folder', 'r.json');
    const ran = await runCloudctl(host, ['db', 'preflight', ...pg, '--allow-private', '--report', report]);
    expect(ran.code).toBe(2);
    expectGolden('db-preflight', messages(ran.err, host.place.work));
  });
});
