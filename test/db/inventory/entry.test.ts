import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createCertificateReader } from '../../../src/db/inventory/entry.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'cloudctl-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

it('a file is read once, and a missing one is undefined', () => {
  const file = join(folder(), 'ca.pem');
  const read = createCertificateReader();
  writeFileSync(file, 'one');
  expect(read(file)).toBe('one');
  writeFileSync(file, 'two');
  expect(read(file)).toBe('one');
  expect(read(join(folder(), 'none'))).toBeUndefined();
});

it.skipIf(process.platform === 'win32')('what has no end, or is no file, is refused at once', () => {
  const [pipe, large] = ['pipe', 'large'].map((name) => join(folder(), name));
  execFileSync('mkfifo', [pipe ?? '']);
  writeFileSync(large ?? '', Buffer.alloc(2_000_000));
  const read = createCertificateReader();
  for (const path of ['/dev/zero', pipe ?? '', large ?? '', folder()])
    expect(() => read(path), path).toThrow(expect.objectContaining({ code: 'usage' }));
});
