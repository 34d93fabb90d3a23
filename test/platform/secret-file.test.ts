import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  InsecureFileError,
  prepareSecretFileReplacement,
  readSecretFile,
  renameTemporarySecretFile,
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
    expect(() => prepareSecretFileReplacement(link, 16)).toThrow(InsecureFileError);
    expect(readFileSync(victim, 'utf8')).toBe('theirs');
    symlinkSync(folder, alias);
    expect(readSecretFile(join(alias, 'victim'))).toBe('theirs');
    prepareSecretFileReplacement(join(alias, 'victim'), 16).commit('ours');
    expect(readFileSync(victim, 'utf8')).toBe('ours');
  });

  it('that is a folder is refused', () => {
    const path = join(newFolder(), 'record');
    mkdirSync(path);
    expect(() => readSecretFile(path)).toThrow(InsecureFileError);
    expect(() => prepareSecretFileReplacement(path, 16)).toThrow();
  });
});

describe('a replacement', () => {
  it('that fails at the rename keeps the whole text, and it can be adopted later', () => {
    const folder = newFolder();
    const path = join(folder, 'record');
    writeFileSync(path, 'old', { mode: 0o600 });
    const replacement = prepareSecretFileReplacement(path, 4096);
    expect(readdirSync(folder).length).toBe(2);
    const other = join(folder, 'other');
    mkdirSync(other);
    // A folder cannot be replaced by a file.
    const stuck = prepareSecretFileReplacement(join(other, 'record'), 16);
    mkdirSync(join(other, 'record'));
    expect(() => stuck.commit('text')).toThrow();
    expect([stuck.hasText(), readFileSync(stuck.path, 'utf8')]).toEqual([true, 'text']);
    writeFileSync(replacement.path, 'new\n\0\0\0');
    renameTemporarySecretFile(replacement.path, path, 'new\n');
    expect([readFileSync(path, 'utf8'), readdirSync(folder).sort()]).toEqual(['new\n', ['other', 'record']]);
  });

  it('leaves nothing when it is abandoned', () => {
    const folder = newFolder();
    prepareSecretFileReplacement(join(folder, 'record'), 4096).abandon();
    expect(readdirSync(folder)).toEqual([]);
  });
});

it('a file that a process with the same ID has left is neither replaced nor removed', () => {
  const path = join(newFolder(), 'record');
  writeFileSync(path, 'old', { mode: 0o600 });
  const first = prepareSecretFileReplacement(path, 64);
  const [, number = ''] = /\.(\d+)\.ready\.tmp$/.exec(first.path) ?? [];
  first.abandon();
  const left = [1, 2, 3].flatMap((next) =>
    ['.ready.tmp', '.link.tmp'].map((ending) =>
      first.path.replace(`.${number}.ready.tmp`, `.${Number(number) + next}${ending}`),
    ),
  );
  for (const name of left) writeFileSync(name, 'only copy', { mode: 0o600 });
  const second = prepareSecretFileReplacement(path, 64);
  second.abandon();
  expect(left.map((name) => readFileSync(name, 'utf8'))).toEqual(left.map(() => 'only copy'));
});
