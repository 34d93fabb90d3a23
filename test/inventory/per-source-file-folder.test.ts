import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  openPerSourceFileFolder,
  perSourceFileName,
  readPreflightBaselineOfSource,
  writeInventorySourceReport,
} from '../../src/inventory/per-source-file-folder.ts';
import { report } from '../preflight/sample.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

it('names of sources become different file names without path separators', () => {
  const names = ['a/b', 'a_b', '../../etc/passwd', '.hidden', '', 'postgres://u@h:1/d', 'x'.repeat(999), 'ä', 'A', 'a'];
  const files = names.map(perSourceFileName);
  expect(new Set(files).size).toBe(names.length);
  for (const file of files)
    expect(file).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,100}-[0-9a-f]{8}\.json$|^-[0-9a-f]{8}\.json$/);
});

it('a report can be the baseline later', () => {
  const path = join(folder(), 'new');
  const opened = openPerSourceFileFolder(path, '--baseline');
  expect(readPreflightBaselineOfSource(opened, 'a')).toBeUndefined();
  writeInventorySourceReport(opened, 'a', report);
  expect(readPreflightBaselineOfSource(opened, 'a')).toMatchObject({ engine: report.engine });
  expect(readdirSync(path)).toEqual([perSourceFileName('a')]);
  expect(statSync(path).mode & 0o077).toBe(0);
});

it('a file is no folder', () => {
  const file = join(folder(), 'file');
  writeFileSync(file, '');
  for (const path of [file, join(file, 'below')])
    expect(() => openPerSourceFileFolder(path, '--baseline')).toThrow(expect.objectContaining({ code: 'usage' }));
});
