import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  lockFileWithFlock,
  lockSandboxStateFolder,
  type NonBlockingFileLocker,
} from '../../../src/sandbox/state/folder-lock.ts';
import { lacks } from '../../fixtures/needs.ts';
import { makeFolder } from './state-folders.ts';

function holdsOnce(tryLock?: NonBlockingFileLocker): void {
  const path = join(makeFolder(), 'lock');
  const release = tryLock === undefined ? lockSandboxStateFolder(path) : lockSandboxStateFolder(path, tryLock);
  expect(() => lockSandboxStateFolder(path, tryLock)).toThrow(expect.objectContaining({ reason: 'busy' }));
  release();
  lockSandboxStateFolder(path, tryLock)();
}

describe('the lock of a state folder', () => {
  it('has one holder at a time, and is free after it was released', () => holdsOnce());

  it.skipIf(lacks('flock'))('works with the flock program alone', () => holdsOnce(lockFileWithFlock));

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
    const locked: NonBlockingFileLocker = () => {
      rmSync(path);
      writeFileSync(path, '');
      return true;
    };
    expect(() => lockSandboxStateFolder(path, locked)).toThrow(expect.objectContaining({ reason: 'busy' }));
  });

  it('is an error with its reason when the system cannot lock files', () => {
    const broken: NonBlockingFileLocker = () => {
      throw new Error('no locks available');
    };
    expect(() => lockSandboxStateFolder(join(makeFolder(), 'lock'), broken)).toThrow(
      expect.objectContaining({ reason: 'unusable', message: expect.stringContaining('no locks available') }),
    );
  });
});
