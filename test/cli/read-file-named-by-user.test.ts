import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readFileNamedByUser } from '../../src/cli/read-file-named-by-user.ts';
import { dbTestHost } from '../commands/db/test-source.ts';
import { runCloudctl } from '../commands/run-cloudctl.ts';
import { expectGolden } from '../fixtures/golden.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-input-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

it('a missing file is distinguished from an empty one', () => {
  const path = join(folder(), 'f');
  expect(readFileNamedByUser(path)).toBeUndefined();
  writeFileSync(path, '');
  expect(readFileNamedByUser(path)).toBe('');
});

it.each([
  ['postgres://u@127.0.0.1:1/d', '--ca-file'],
  ['rediss://127.0.0.1:1', '--ca-file'],
  ['postgres://u@127.0.0.1:1/d', '--baseline'],
])('a folder instead of a file is a usage error: --source %s %s', async (source, option) => {
  const path = folder();
  const ran = await runCloudctl(dbTestHost(), ['db', 'preflight', '--source', source, option, path]);
  expect(ran).toMatchObject({ code: 2, out: '' });
  expect(ran.err).toContain(path);
  expectGolden('errors', ran.err.replaceAll(path, '/FOLDER'));
});
