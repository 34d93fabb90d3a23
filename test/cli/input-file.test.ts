import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readInputFile } from '../../src/cli/input-file.ts';
import { dbTestHost } from '../commands/db/test-source.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-input-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

it('a file that is not there is told from one that is empty', () => {
  const path = join(folder(), 'f');
  expect(readInputFile(path)).toBeUndefined();
  writeFileSync(path, '');
  expect(readInputFile(path)).toBe('');
});

it.each([
  ['postgres://u@127.0.0.1:1/d', '--ca-file'],
  ['rediss://127.0.0.1:1', '--ca-file'],
  ['postgres://u@127.0.0.1:1/d', '--baseline'],
])('a folder where a file is wanted is a usage error: --source %s %s', async (source, option) => {
  const path = folder();
  const ran = await runCloudctl(dbTestHost(), ['db', 'preflight', '--source', source, option, path]);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.err).toContain(`error: could not read ${path}: `);
});
