import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { usageError } from '../../../src/base/errors.ts';
import {
  createFileFailures,
  openFolder,
  readSourceBaseline,
  sourceFileName,
  writeSourceReport,
} from '../../../src/db/inventory/files.ts';
import { report } from '../preflight/sample.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

it('names of sources become different file names without path separators', () => {
  const names = [
    'a/b',
    'a_b',
    '../../../etc/passwd',
    '.hidden',
    '',
    'postgres://u@h:1/d',
    'x'.repeat(999),
    'ä',
    'A',
    'a',
  ];
  const files = names.map(sourceFileName);
  expect(new Set(files).size).toBe(names.length);
  for (const file of files)
    expect(file).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,100}-[0-9a-f]{8}\.json$|^-[0-9a-f]{8}\.json$/);
});

it('a report can be the baseline later', () => {
  const path = join(folder(), 'new');
  const opened = openFolder(path, '--baseline');
  expect(readSourceBaseline(opened, 'a')).toBeUndefined();
  writeSourceReport(opened, 'a', report);
  expect(readSourceBaseline(opened, 'a')).toMatchObject({ engine: report.engine });
  expect(readdirSync(path)).toEqual([sourceFileName('a')]);
  expect(statSync(path).mode & 0o077).toBe(0);
});

it('a file is no folder', () => {
  const file = join(folder(), 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below')])
    expect(() => openFolder(path, '--baseline')).toThrow(expect.objectContaining({ code: 'usage' }));
});

it('keeps the first error of a file, which is no usage error, and counts all', () => {
  const files = createFileFailures();
  expect(files.attempt(() => {})).toBe(true);
  expect(files.error()).toBeUndefined();
  const fail = (message: string) => () => {
    throw usageError(message);
  };
  expect(files.attempt(fail('first'))).toBe(false);
  expect(files.error()).toMatchObject({ code: 'storage', exitCode: 7, message: 'first', detail: undefined });
  files.attempt(fail('second'));
  expect(files.error()).toMatchObject({ message: 'first', detail: expect.stringContaining('2') });
});

it('does not hide errors of the program', () => {
  const broken = () => {
    throw new TypeError('broken');
  };
  expect(() => createFileFailures().attempt(broken)).toThrow(TypeError);
});
