import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  fileWriteError,
  readPreflightBaseline,
  requireWritableFile,
  writeReportFile,
} from '../../src/preflight/write-report-file.ts';
import { report } from './sample.ts';

const usage = expect.objectContaining({ code: 'usage' });

it('files are written, and those that cannot be are usage errors', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'report.json');
  requireWritableFile(undefined);
  requireWritableFile(file);
  expect(readPreflightBaseline(file)).toBeUndefined();
  writeReportFile(file, JSON.stringify(report));
  expect(readFileSync(file, 'utf8')).toContain(report.engine);
  expect(readPreflightBaseline(file)).toMatchObject({ engine: report.engine });
  writeFileSync(file, '{}');
  expect(() => readPreflightBaseline(file)).toThrow(usage);
  expect(() => requireWritableFile(join(folder, 'none', 'x'))).toThrow(usage);
  expect(() => writeReportFile(join(folder, 'none', 'x'), '')).toThrow(usage);
  expect(fileWriteError('x', new Error('full'))).toMatchObject({ code: 'usage' });
});
