import { execFileSync } from 'node:child_process';
import fs, { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  InsecureFileError,
  readSecretFile,
  requireReplaceable,
  writeSecretFile,
} from '../../src/platform/secret-file.ts';
import { makeFolders } from '../fixtures/folders.ts';

function newFolder(): string {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  mkdirSync(folders.state, { recursive: true });
  return folders.state;
}

describe.skipIf(process.platform === 'win32')('a file with secrets', () => {
  it('is read when it is of mode 0600, and is undefined when it is missing', () => {
    const path = join(newFolder(), 'record');
    expect(readSecretFile(path)).toBeUndefined();
    writeFileSync(path, 'secret', { mode: 0o600 });
    expect(readSecretFile(path)).toBe('secret');
  });

  it.each([0o644, 0o640, 0o660, 0o602])('is refused with mode %o, and the hint repairs it', (mode) => {
    const path = join(newFolder(), 'record');
    writeFileSync(path, 'secret');
    chmodSync(path, mode);
    expect(() => readSecretFile(path)).toThrow(InsecureFileError);
    expect(() => readSecretFile(path)).toThrow(expect.objectContaining({ hint: expect.stringContaining('chmod 600') }));
    chmodSync(path, 0o600);
    expect(readSecretFile(path)).toBe('secret');
  });

  it.each<[string, (path: string) => unknown]>([
    ['a mode that others can read', (path) => writeFileSync(path, '', { mode: 0o644 })],
    ['a folder', (path) => mkdirSync(path)],
    ['a named pipe', (path) => execFileSync('mkfifo', [path])],
    ['a symbolic link', (path) => symlinkSync('/etc/passwd', path)],
  ])('is refused for %s, and the command of the hint can be pasted', (_, make) => {
    const path = join(newFolder(), "it's a record");
    make(path);
    let hint = '';
    try {
      readSecretFile(path);
    } catch (error) {
      if (error instanceof InsecureFileError) hint = error.hint;
    }
    execFileSync('sh', ['-c', /`(.*)`$/.exec(hint)?.[1] ?? 'false']);
    expect(() => readSecretFile(path)).not.toThrow();
  });

  it('is neither read nor replaced through a symbolic link; a folder may be one', () => {
    const folder = newFolder();
    const [victim, link, alias] = [join(folder, 'victim'), join(folder, 'record'), `${folder}-alias`];
    writeFileSync(victim, 'theirs', { mode: 0o600 });
    symlinkSync(victim, link);
    expect(() => readSecretFile(link)).toThrow(InsecureFileError);
    expect(() => requireReplaceable(link, 16, link)).toThrow(InsecureFileError);
    expect(() => writeSecretFile(link, 'ours')).toThrow(InsecureFileError);
    expect(readFileSync(victim, 'utf8')).toBe('theirs');
    symlinkSync(folder, alias);
    expect(readSecretFile(join(alias, 'victim'))).toBe('theirs');
    requireReplaceable(join(alias, 'victim'), 16, join(alias, 'victim'));
    writeSecretFile(join(alias, 'victim'), 'ours');
    expect(readFileSync(victim, 'utf8')).toBe('ours');
  });

  it('that is a pipe is refused at once', () => {
    const path = join(newFolder(), 'record');
    execFileSync('mkfifo', ['-m', '600', path]);
    expect(() => readSecretFile(path)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(`mv ${path} ${path}.damaged`) }),
    );
    expect(() => requireReplaceable(path, 16, path)).toThrow();
    expect(() => writeSecretFile(path, 'text')).toThrow();
  });

  it('that is a folder is refused', () => {
    const path = join(newFolder(), 'record');
    mkdirSync(path);
    expect(() => readSecretFile(path)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(`mv ${path} ${path}.damaged`) }),
    );
    expect(() => requireReplaceable(path, 16, path)).toThrow();
    expect(() => writeSecretFile(path, 'text')).toThrow();
    expect(readdirSync(dirname(path))).toEqual(['record']);
  });
});

describe('a replacement', () => {
  it('that fails leaves the old text and no temporary file, because the journal has the new text', () => {
    const path = join(newFolder(), 'record');
    writeFileSync(path, 'old', { mode: 0o600 });
    failOnce('renameSync');
    expect(() => writeSecretFile(path, 'new')).toThrow('EIO');
    expect([readFileSync(path, 'utf8'), readdirSync(dirname(path))]).toEqual(['old', ['record']]);
    writeSecretFile(path, 'new');
    expect([readFileSync(path, 'utf8'), readdirSync(dirname(path))]).toEqual(['new', ['record']]);
  });

  it('that cannot be synced is made all the same', () => {
    const path = join(newFolder(), 'record');
    failOnce('fsyncSync');
    writeSecretFile(path, 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
  });

  it.each(['fsyncSync', 'renameSync'] as const)('is known to be impossible when %s fails', (call) => {
    const path = join(newFolder(), 'record');
    writeFileSync(path, 'old', { mode: 0o600 });
    failOnce(call);
    expect(() => requireReplaceable(path, 4096, path)).toThrow('EIO');
    expect([readFileSync(path, 'utf8'), readdirSync(dirname(path))]).toEqual(['old', ['record']]);
  });

  it('is tested again when another process has removed its temporary file', () => {
    const path = join(newFolder(), 'record');
    failOnce('renameSync', 'ENOENT');
    requireReplaceable(path, 4096, path);
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

it('a file that a process with the same ID has left is neither in the way of a replacement nor removed by it', () => {
  const folder = newFolder();
  const path = join(folder, 'record');
  const left = Array.from({ length: 200 }, (_, number) => `.record.${process.pid}.${number}.tmp`);
  for (const name of left) writeFileSync(join(folder, name), 'left', { mode: 0o600 });
  requireReplaceable(path, 64, path);
  writeSecretFile(path, 'new');
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(left.map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(left.map(() => 'left'));
});

function failOnce(call: 'fsyncSync' | 'renameSync', code = 'EIO'): void {
  const spy = vi.spyOn(fs, call).mockImplementationOnce(() => {
    throw Object.assign(new Error(`${code}: no`), { code });
  });
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
}
