import fs, { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  listSandboxLockKinds,
  lockSandboxStateFolder,
  type SandboxLockKind,
} from '../../../src/sandbox/state/state-folder.ts';
import { lacks } from '../../fixtures/needs.ts';
import { makeFolder } from './state-folders.ts';

function holdsOnce(kinds?: readonly SandboxLockKind[]): void {
  const path = join(makeFolder(), 'lock');
  const release = lockSandboxStateFolder(path, kinds);
  expect(() => lockSandboxStateFolder(path, kinds)).toThrow(expect.objectContaining({ reason: 'busy' }));
  release();
  lockSandboxStateFolder(path, kinds)();
}

const only = (name: string) => listSandboxLockKinds().filter((kind) => kind.name === name);

describe('the lock of a state folder', () => {
  it('has one holder at a time, and is free after it was released', () => holdsOnce());

  it.skipIf(lacks('flock'))('works with the flock program alone', () => holdsOnce(only('flock')));

  it.each(['Bun', 'Deno'])('needs the flock program in %s', (runtime) => {
    vi.stubGlobal(runtime, {});
    vi.stubEnv('PATH', '');
    onTestFinished(() => {
      vi.unstubAllGlobals();
      vi.unstubAllEnvs();
    });
    const path = join(makeFolder(), 'lock');
    expect(() => lockSandboxStateFolder(path)).toThrow(expect.objectContaining({ reason: 'unusable' }));
  });

  it('is refused when the file was removed after it was opened', () => {
    const path = join(makeFolder(), 'lock');
    const tryLock = () => {
      rmSync(path);
      writeFileSync(path, '');
      return true;
    };
    expect(() => lockSandboxStateFolder(path, [{ name: 'fcntl', tryLock }])).toThrow(
      expect.objectContaining({ reason: 'busy' }),
    );
  });

  it('is an error with its reason when the system cannot lock files', () => {
    const tryLock = () => {
      throw new Error('no locks available');
    };
    expect(() => lockSandboxStateFolder(join(makeFolder(), 'lock'), [{ name: 'fcntl', tryLock }])).toThrow(
      expect.objectContaining({ reason: 'unusable', message: expect.stringContaining('no locks available') }),
    );
  });
});

describe.skipIf(process.platform !== 'linux' || lacks('flock'))('locks of two kinds', () => {
  it.each([
    ['fcntl', 'flock'],
    ['flock', 'fcntl'],
  ])('of which the first was %s: a sandbox that has only %s is refused, also later', (first, second) => {
    const path = join(makeFolder(), 'lock');
    const release = lockSandboxStateFolder(path, only(first));
    const refused = expect.objectContaining({ reason: 'unusable', message: expect.stringContaining(first) });
    expect(() => lockSandboxStateFolder(path, only(second))).toThrow(refused);
    release();
    expect(() => lockSandboxStateFolder(path, only(second))).toThrow(refused);
    expect(readFileSync(path, 'utf8')).toBe(`${first}\n`);
  });

  it('a sandbox that has both takes the recorded one, and is excluded by it', () => {
    const path = join(makeFolder(), 'lock');
    const release = lockSandboxStateFolder(path, only('flock'));
    expect(() => lockSandboxStateFolder(path)).toThrow(expect.objectContaining({ reason: 'busy' }));
    release();
    lockSandboxStateFolder(path)();
  });

  it('that are taken at the same time in an empty file: the first that recorded its kind has the lock', () => {
    const path = join(makeFolder(), 'lock');
    let release = (): void => {};
    const [flock] = only('flock');
    const second: SandboxLockKind = {
      name: 'flock',
      tryLock: (descriptor) => {
        const isLocked = flock?.tryLock(descriptor) ?? false;
        beforeNextWrite(() => {
          release = lockSandboxStateFolder(path, only('fcntl'));
        });
        return isLocked;
      },
    };
    expect(() => lockSandboxStateFolder(path, [second])).toThrow(expect.objectContaining({ reason: 'busy' }));
    expect(() => lockSandboxStateFolder(path)).toThrow(expect.objectContaining({ reason: 'busy' }));
    release();
    lockSandboxStateFolder(path)();
  });

  it.each(['\0\0\0\0\0\0', 'fcnt'])('a damaged file (%j) is recorded anew', (content) => {
    const path = join(makeFolder(), 'lock');
    writeFileSync(path, content);
    lockSandboxStateFolder(path, only('fcntl'))();
    expect(readFileSync(path, 'utf8')).toBe('fcntl\n');
  });
});

/** Calls `work` once, between the read of a lock file and the write to it. */
function beforeNextWrite(work: () => void): void {
  const { readSync } = fs;
  const spy = vi.spyOn(fs, 'readSync').mockImplementation(((...given: Parameters<typeof readSync>) => {
    const read = readSync(...given);
    spy.mockRestore();
    syncBuiltinESMExports();
    work();
    return read;
  }) as typeof readSync);
  syncBuiltinESMExports();
}
