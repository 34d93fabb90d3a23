import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { usageError } from '../../src/base/errors.ts';
import { readInput, readUserFile } from '../../src/cli/user-file.ts';
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
  expect(readUserFile(path)).toBeUndefined();
  writeFileSync(path, '');
  expect(readUserFile(path)).toBe('');
});

it('a byte order mark is removed: OpenSSL would ignore the certificate after it', () => {
  const path = join(folder(), 'ca.pem');
  writeFileSync(path, '\uFEFF-----BEGIN CERTIFICATE-----');
  expect(readUserFile(path)).toBe('-----BEGIN CERTIFICATE-----');
});

it('an input that is too large is refused, also one that never ends', async () => {
  const description = {
    what: 'the body',
    readError: (reason: string) => usageError(reason),
    maxBytes: { bytes: 9, hint: 'h' },
  };
  await expect(readInput({ stdin: Readable.from([]) }, '/dev/zero', description)).rejects.toMatchObject({
    code: 'usage',
  });
  const stdin = Readable.from(['0123456789']);
  await expect(readInput({ stdin }, '-', description)).rejects.toMatchObject({ code: 'usage' });
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
