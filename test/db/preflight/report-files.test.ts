import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { requireWritable, writeReport } from '../../../src/db/preflight/run-with-files.ts';
import { makeFolders } from '../../fixtures/folders.ts';

function home(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  mkdirSync(folders.home, { recursive: true });
  return folders.home;
}

it('a report is written, and replaces the report of an earlier run', () => {
  const file = join(home(), 'report.json');
  for (const text of ['first', 'second']) writeReport(file, text);
  expect(readFileSync(file, 'utf8')).toBe('second');
});

it('a file in a missing folder is a usage error before anything is sent', () => {
  const file = join(home(), 'missing', 'report.json');
  for (const act of [() => requireWritable(file), () => writeReport(file, '')])
    expect(act).toThrow(expect.objectContaining({ code: 'usage', exitCode: 2 }));
});

it('no file needs no folder', () => expect(() => requireWritable(undefined)).not.toThrow());
