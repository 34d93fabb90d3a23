import fs, { fstatSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { listAvailableFileLockMechanisms, tryAcquireFileLock } from '../../src/platform/locks.ts';

function newLock(content?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'lock-kind-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'default.lock');
  if (content !== undefined) writeFileSync(path, content);
  return path;
}

const only = (name: string) => listAvailableFileLockMechanisms().filter((kind) => kind.name === name);

it.each(['Bun', 'Deno'])('%s has the locks of the flock program only', async (runtime) => {
  vi.stubGlobal(runtime, {});
  vi.resetModules();
  onTestFinished(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });
  const there = await import('../../src/platform/locks.ts');
  expect(there.listAvailableFileLockMechanisms().map(({ name }) => name)).toEqual(['flock']);
});

describe.skipIf(process.platform !== 'linux')('locks of two kinds', () => {
  it.each([
    ['fcntl', 'flock'],
    ['flock', 'fcntl'],
  ])('of which the first was %s: one that can only take %s refuses', (first, second) => {
    const path = newLock();
    const held = tryAcquireFileLock(path, only(first));
    expect(held).toBeDefined();
    expect(() => tryAcquireFileLock(path, only(second))).toThrow(first === 'fcntl' ? /fs-native-extensions/ : /flock/);
    held?.release();
    expect(() => tryAcquireFileLock(path, only(second))).toThrow(expect.objectContaining({ code: 'storage' }));
  });

  it('one that can take both takes the recorded one, and is excluded by it', () => {
    const path = newLock();
    const held = tryAcquireFileLock(path, only('flock'));
    expect(tryAcquireFileLock(path)).toBeUndefined();
    held?.release();
    const again = tryAcquireFileLock(path);
    expect(tryAcquireFileLock(path, only('flock'))).toBeUndefined();
    again?.release();
  });

  it('an empty file gets the kind of the first process', () => {
    const path = newLock('');
    tryAcquireFileLock(path, only('fcntl'))?.release();
    expect(() => tryAcquireFileLock(path, only('flock'))).toThrow(/fs-native-extensions/);
  });

  it('taken at the same time in an empty file: the first that recorded its kind has the lock', () => {
    const path = newLock('');
    const { readSync } = fs;
    let [reads, held] = [0, undefined as ReturnType<typeof tryAcquireFileLock>];
    const spy = vi.spyOn(fs, 'readSync').mockImplementation(((...given: Parameters<typeof readSync>) => {
      const read = readSync(...given);
      reads += 1;
      // The second read is that between the lock and the record of its kind.
      if (reads === 2) held = tryAcquireFileLock(path, only('fcntl'));
      return read;
    }) as typeof readSync);
    onTestFinished(() => {
      spy.mockRestore();
      syncBuiltinESMExports();
    });
    syncBuiltinESMExports();
    expect(() => tryAcquireFileLock(path, only('flock'))).toThrow(/fs-native-extensions/);
    expect(held).toBeDefined();
    held?.release();
  });

  it.each(['\0\0\0\0\0\0', 'fcnt', 'another\n'])(
    'a damaged file (%j) is recorded anew, and does not grow',
    (content) => {
      const path = newLock(content);
      tryAcquireFileLock(path, only('fcntl'))?.release();
      expect(readFileSync(path, 'utf8')).toBe('fcntl\n');
      expect(() => tryAcquireFileLock(path, only('flock'))).toThrow(/fs-native-extensions/);
    },
  );

  it('a kind that can unlock does so before the file is closed, as Windows needs it', () => {
    const calls: string[] = [];
    const kind = {
      name: 'fcntl',
      lock: () => true,
      unlock: (descriptor: number) => calls.push(`unlock ${fstatSync(descriptor).isFile()}`),
    } as const;
    tryAcquireFileLock(newLock(), [kind])?.release();
    expect(calls).toEqual(['unlock true']);
    expect(listAvailableFileLockMechanisms().some(({ unlock }) => unlock !== undefined)).toBe(
      process.platform === 'win32',
    );
  });
});
