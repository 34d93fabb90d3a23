import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { flock, lockFolder, type TryLock } from '../../../src/sandbox/state/folder-lock.ts';
import { lacks } from '../../fixtures/needs.ts';
import { makeFolder } from './state-folders.ts';

function holdsOnce(tryLock?: TryLock): void {
  const path = join(makeFolder(), 'lock');
  const release = tryLock === undefined ? lockFolder(path) : lockFolder(path, tryLock);
  expect(() => lockFolder(path, tryLock)).toThrow(/another sandbox runs in/);
  release();
  lockFolder(path, tryLock)();
}

describe('the lock of a state folder', () => {
  it('has one holder at a time, and is free when that has ended', () => holdsOnce());

  it.skipIf(lacks('flock'))('is the same where only the flock program is there', () => holdsOnce(flock));

  it('is not held by a file that was removed in between', () => {
    const path = join(makeFolder(), 'lock');
    const locked: TryLock = () => {
      rmSync(path);
      writeFileSync(path, '');
      return true;
    };
    expect(() => lockFolder(path, locked)).toThrow(/another sandbox runs in/);
  });

  it('that cannot be taken at all is an error with the reason, never a start without it', () => {
    const broken: TryLock = () => {
      throw new Error('no locks available');
    };
    expect(() => lockFolder(join(makeFolder(), 'lock'), broken)).toThrow(/could not lock .*: no locks available/);
  });
});
