import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished, test } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { csvColumns } from '../../../src/db/inventory/entry.ts';
import { maxLineBytes, parseFields, readSourcesFile, splitLines } from '../../../src/db/inventory/sources-file.ts';
import { testHost } from '../../fixtures/host.ts';
import { parse } from './entries.ts';

it('a list has a URL or a service on each line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'services');
  writeFileSync(file, '[billing]\nhost=db2.example.com\ndbname=billing\nuser=mover\n');
  const text = '# sources\npostgres://mover@db1.example.com/shop\n\nbilling\nrediss://cache.example.com\n';
  const { entries, bad } = parse(text, {}, { env: { PGSERVICEFILE: file } });
  expect(bad).toEqual([]);
  expect(entries.map(({ line, name, scope }) => ({ line, name, scope }))).toEqual([
    { line: 2, name: 'postgres://mover@db1.example.com:5432/shop', scope: 'server' },
    { line: 4, name: 'postgres://mover@db2.example.com:5432/billing', scope: 'server' },
    { line: 5, name: 'rediss://cache.example.com:6379', scope: 'server' },
  ]);
});

it.skipIf(process.platform === 'win32')('a pipe is read to its end, and names no password command', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', `sleep 0.2; echo postgres://a@b/c > ${pipe}`]);
  onTestFinished(() => void writer.kill());
  const read = await readSourcesFile(pipe, testHost());
  expect(Buffer.from(read.bytes).toString()).toBe('postgres://a@b/c\n');
  expect(read.commandRefusal).toContain('password_command');
});

it('CSV columns replace the options of the command line', () => {
  const text = [
    'name,host,port,dbname,user,engine,sslmode,scope,method,target_version,ignore_dbs,accept,password_command',
    'a,db1,5433,shop,mover,,disable,,dump,18,"x, y",wal-level,"[""pass"",""show"",""a b""]"',
    'b,db1,,shop,mover,,,database,,,,,',
    'c,cache,6380,,,redis,disable,,scan,7.2,,,',
  ].join('\n');
  const { entries, bad } = parse(text, { 'target-version': ['17'], strict: [''], scope: ['server'] });
  expect(bad).toEqual([]);
  const [a, b, c] = entries;
  expect(a?.options).toMatchObject({
    method: 'dump',
    targetVersion: '18',
    ignoreDbs: ['x', 'y'],
    accept: ['wal-level'],
    strict: true,
  });
  expect(a?.passwordCommand).toEqual(['pass', 'show', 'a b']);
  expect(a?.withPassword(new Secret('p')).source).toMatchObject({ host: 'db1', port: 5433, ssl: 'disable' });
  expect(b).toMatchObject({ scope: 'database', options: { method: 'continuous', targetVersion: '17' } });
  expect(c?.withPassword(undefined)).toMatchObject({ engine: 'redis', source: { host: 'cache', port: 6380 } });
});

it('every bad line is listed, and the good ones are parsed nevertheless', () => {
  const lines = [
    'url,name,target_version,accept,ignore_dbs,scope',
    'postgres://u@h/d,good,,,,',
    'postgres://u@h/d,twice,17,,',
    'mysql://u@h/d,scheme,,,,',
    'postgres://u@h/d,version,new,,,',
    'postgres://u@h/d,check,,no-such-check,,',
    'postgres://u@h/d,good,,,,',
    'postgres://h/d,user,,,,',
    'redis://h,ignored,,,a,',
    'postgres://u@h/d,scope,,,,table',
    '"postgres://u@h/d,quote,,,,',
  ];
  const { entries, bad } = parse(lines.join('\n'));
  expect(entries.map(({ name }) => name)).toEqual(['good']);
  expect(bad.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test.each([
  'url,password\npostgres://u@h/d,x',
  'url,colour\npostgres://u@h/d,red',
  'url,url\npostgres://u@h/d,postgres://u@h/d',
  'name,dbname\na,b',
])('the header of %j is refused as a whole', (text) => {
  expect(parse(text).bad.map(({ line }) => line)).toEqual([1]);
});

test.each([
  { row: 'postgres://u@h/d,svc,,', why: 'two ways to name the source' },
  { row: ',,h,', why: 'no user' },
  { row: ',,,', why: 'no source' },
])('a row with $why is bad', ({ row }) => {
  expect(parse(`url,service,host,user\n${row}`).bad).toHaveLength(1);
});

it('the URL of a file that others can read has no password, and a pipe has no command', () => {
  const refused = { passwordRefusal: 'REFUSED', commandRefusal: 'NO COMMAND' };
  expect(parse('postgres://u:p@h/d', {}, refused).bad).toEqual([{ line: 1, reason: 'REFUSED' }]);
  expect(parse('url,password_command\npostgres://u@h/d,"[""x""]"', {}, refused).bad).toEqual([
    { line: 2, reason: 'NO COMMAND' },
  ]);
  expect(parse('postgres://u@h/d', {}, refused).bad).toEqual([]);
});

it('no reason and no name contains a part of a password', () => {
  const text = fc.string({ minLength: 8, maxLength: 30, unit: 'grapheme-ascii' }).map((one) => `Zq9${one}Zq9`);
  fc.assert(
    fc.property(text, fc.constantFrom('postgres', 'postgresql', 'redis', 'rediss', 'mysql'), (password, scheme) => {
      const { entries, bad } = parse(`${scheme}://user:${password}@host.example.com:1x/d`);
      const { entries: good, bad: also } = parse(`${scheme}://user:${encodeURIComponent(password)}@host/d`);
      const shown = JSON.stringify([...entries, ...good].map(({ name, url }) => [name, url]).concat());
      expect(`${shown}${JSON.stringify([...bad, ...also])}`).not.toContain('Zq9');
    }),
  );
});

it('reasons do not name the option of a single source', () => {
  const lines = [
    'postgres://u@a,b/d',
    'postgres://u@h/d?hostaddr=1.2.3.4',
    'postgres://u@h/d?unknown=1',
    'POSTGRES://u@h/d',
  ];
  const { bad } = parse(lines.join('\n'));
  expect(bad).toHaveLength(lines.length);
  for (const { reason } of bad) expect(reason).not.toContain('--source');
});

it('100,000 lines are parsed in seconds', { timeout: 60_000 }, () => {
  const lines = Array.from({ length: 100_000 }, (_, at) => `postgres://u@h${at}/d`);
  const begun = performance.now();
  expect(parse([...lines, lines[0]].join('\n'))).toMatchObject({ bad: [{ line: 100_001 }] });
  expect(performance.now() - begun).toBeLessThan(40_000);
});

const split = (text: string) => splitLines(Buffer.from(text));

it('numbers lines as an editor does, and leaves out blank lines and comments', () => {
  expect(split('\ufeffa\r\n\n # note\n  b  \n#c\nd').lines).toEqual([
    { line: 1, text: 'a' },
    { line: 4, text: 'b' },
    { line: 6, text: 'd' },
  ]);
  expect(split('')).toEqual({ lines: [], bad: [] });
});

test.each([
  { what: 'a control character', bytes: Buffer.from('ok\na\u001b[2Jb\n') },
  { what: 'NUL', bytes: Buffer.from('ok\na\0b\n') },
  { what: 'a character that reverses text', bytes: Buffer.from('ok\na\u202eb\n') },
  { what: 'bytes that are not UTF-8', bytes: Buffer.from([0x6f, 0x6b, 0x0a, 0xff, 0xfe, 0x0a]) },
  { what: 'a line of 10 MB', bytes: Buffer.concat([Buffer.from('ok\n'), Buffer.alloc(10_000_000, 0x61)]) },
])('$what makes its line bad, and no other', ({ bytes }) => {
  const { lines, bad } = splitLines(bytes);
  expect(lines).toEqual([{ line: 1, text: 'ok' }]);
  expect(bad.map(({ line }) => line)).toEqual([2]);
});

it('accepts a line of the greatest length', () => {
  expect(split('a'.repeat(maxLineBytes)).bad).toEqual([]);
  expect(split('a'.repeat(maxLineBytes + 1)).bad).toHaveLength(1);
});

test.each([
  { text: 'a,b', fields: ['a', 'b'] },
  { text: 'a, b ,', fields: ['a', 'b', ''] },
  { text: '"a,b",c', fields: ['a,b', 'c'] },
  { text: '"say ""hi""",', fields: ['say "hi"', ''] },
  { text: '"",""', fields: ['', ''] },
])('the record $text', ({ text, fields }) => {
  expect(parseFields(text)).toEqual(fields);
});

test.each(['"a', 'a"b,c', '"a"b,c', '"a,b'])('the record %s is refused', (text) => {
  expect(parseFields(text)).toMatchObject({ reason: expect.any(String) });
});

it('the guide lists every column', () => {
  const guide = readFileSync(new URL('../../../docs/guides/inventory.md', import.meta.url), 'utf8');
  const rows = csvColumns.map(({ name, description }) => `| \`${name}\` | ${description} |`);
  expect(rows.filter((row) => !guide.includes(row))).toEqual([]);
});
