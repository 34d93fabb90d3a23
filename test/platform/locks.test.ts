import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  fstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { acquireLock, listMechanisms, tryAcquire, tryFlock } from '../../src/platform/locks.ts';
import { systemClock } from '../../src/platform/waiting.ts';
import { type Bundle, bundleProgram } from './bundle.ts';

describe('the lock of a file', () => {
  const native: { tryLock(descriptor: number): boolean } = createRequire(import.meta.url)('fs-native-extensions');
  const options = {
    waitMs: 10_000,
    clock: systemClock,
    random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
  };

  let program: Bundle;
  let folder = '';
  let path = '';
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    program = await bundleProgram({ text: holder }, 'esm');
  });
  afterAll(() => program.remove());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
    path = join(folder, 'locks', 'default.lock');
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** Takes the lock, says so, and keeps it until its standard input ends; or adds one to a number under the lock. */
  const holder = `
  import { readFileSync, writeFileSync } from 'node:fs';
  import { acquireLock } from './src/platform/locks.ts';
  import { systemClock } from './src/platform/waiting.ts';
  const [path, number] = process.argv.slice(2);
  const random = (bytes) => crypto.getRandomValues(new Uint8Array(bytes));
  acquireLock(path, { waitMs: 20_000, clock: systemClock, random }).then(async (held) => {
    if (number === undefined) {
      console.log('held');
      process.stdin.resume().once('end', () => { held.release(); console.log('released'); });
      return;
    }
    const before = Number(readFileSync(number, 'utf8'));
    await systemClock.sleep(10);
    writeFileSync(number, String(before + 1));
    held.release();
  });
`;

  function start(...words: string[]): ChildProcess & { readonly line: () => Promise<string> } {
    const child = spawn(process.execPath, [program.script, path, ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
    children.push(child);
    const lines = createInterface({ input: child.stdout });
    return Object.assign(child, { line: async () => String((await once(lines, 'line'))[0]) });
  }

  async function busyError(waitMs: number): Promise<unknown> {
    return acquireLock(path, { ...options, waitMs }).catch((error: unknown) => error);
  }

  describe('the lock of a profile', () => {
    it('is held by one process at a time: no count of twelve processes is lost', async () => {
      const number = join(folder, 'number');
      writeFileSync(number, '0');
      await Promise.all(Array.from({ length: 12 }, () => once(start(number), 'close')));
      expect(readFileSync(number, 'utf8')).toBe('12');
    });

    it('is not taken through a symbolic link or on a pipe that somebody planted', () => {
      tryAcquire(path)?.release();
      const victim = join(folder, 'victim');
      writeFileSync(victim, 'text');
      unlinkSync(path);
      symlinkSync(victim, path);
      expect(() => tryAcquire(path)).toThrow(CliError);
      expect(readFileSync(victim, 'utf8')).toBe('text');
      unlinkSync(path);
      execFileSync('mkfifo', [path]);
      expect(() => tryAcquire(path)).toThrow(CliError);
    });

    it('is not given away while its holder lives, and waiting ends with busy', async () => {
      const child = start();
      expect(await child.line()).toBe('held');
      expect(tryAcquire(path)).toBeUndefined();
      const from = Date.now();
      const error = await busyError(300);
      expect(error).toBeInstanceOf(CliError);
      expect(error).toMatchObject({ code: 'busy', exitCode: 1 });
      expect(Date.now() - from).toBeGreaterThanOrEqual(295);
      child.stdin?.end();
      expect(await child.line()).toBe('released');
      tryAcquire(path)?.release();
    });

    it('is free as soon as its holder was killed', async () => {
      const child = start();
      await child.line();
      child.kill('SIGKILL');
      await once(child, 'close');
      const held = tryAcquire(path);
      expect(held).toBeDefined();
      held?.release();
    });

    it('stays with a holder that was stopped', async () => {
      const child = start();
      await child.line();
      child.kill('SIGSTOP');
      expect(await busyError(400)).toMatchObject({ code: 'busy' });
      child.kill('SIGCONT');
      child.stdin?.end();
      (await acquireLock(path, options)).release();
    });

    it('excludes within one process as well, and can be taken again after release', () => {
      const held = tryAcquire(path);
      expect(tryAcquire(path)).toBeUndefined();
      held?.release();
      const again = tryAcquire(path);
      expect(again).toBeDefined();
      again?.release();
    });

    it('is a permanent file of the user alone that contains only the kind of its lock', () => {
      tryAcquire(path)?.release();
      tryAcquire(path)?.release();
      expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['fcntl\n', 0o600]);
      expect(statSync(join(folder, 'locks')).mode & 0o777).toBe(0o700);
    });

    it('of a file that was removed meanwhile is not taken for the lock of its successor', () => {
      let removed = false;
      const removing = (descriptor: number) => {
        if (!removed) unlinkSync(path);
        removed = true;
        return native.tryLock(descriptor);
      };
      const held = tryAcquire(path, [{ name: 'fcntl', lock: removing }]);
      expect(held).toBeDefined();
      expect(tryAcquire(path)).toBeUndefined();
      held?.release();
    });

    it('is waited for with pauses of 25 to 75 ms, which a signal ends', async () => {
      const held = tryAcquire(path);
      const pauses: number[] = [];
      let now = 0;
      const clock = {
        now: () => now,
        sleep: async (ms: number) => {
          pauses.push(ms);
          now += ms;
        },
      };
      const bytes = [0, 255, 128, 51, 204];
      const random = () => Uint8Array.of(bytes[pauses.length % bytes.length] ?? 0);
      await expect(acquireLock(path, { waitMs: 1000, clock, random })).rejects.toMatchObject({ code: 'busy' });
      expect(Math.min(...pauses.slice(0, -1))).toBeGreaterThanOrEqual(25);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(75);
      expect(new Set(pauses).size).toBeGreaterThan(3);
      const given = new AbortController();
      const waiting = acquireLock(path, { ...options, signal: given.signal });
      setTimeout(() => given.abort(), 30);
      await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
      held?.release();
    });

    it.each([-3_600_000, 3_600_000])(
      'is waited for as long although the clock is set by %d ms meanwhile',
      async (step) => {
        const held = tryAcquire(path);
        let [now, slept] = [0, 0];
        const clock = {
          now: () => now,
          sleep: async (ms: number) => {
            slept += ms;
            if (slept > 2000) throw new Error('it waits on');
            now += ms + step;
          },
        };
        await expect(acquireLock(path, { ...options, waitMs: 1000, clock })).rejects.toMatchObject({
          code: 'busy',
        });
        expect(slept).toBeCloseTo(1000);
        held?.release();
      },
    );

    it('that cannot be made names the folder', () => {
      writeFileSync(join(folder, 'locks'), 'a file where the folder should be');
      expect(() => tryAcquire(path)).toThrow(CliError);
      expect(() => tryAcquire(path)).toThrow(join(folder, 'locks'));
      rmSync(join(folder, 'locks'));
    });

    it('on a file system without locks is an error naming the folder, and never a lock', () => {
      const lockless = () => {
        throw Object.assign(new Error('No locks available'), { code: 'ENOLCK' });
      };
      expect(() => tryAcquire(path, [{ name: 'fcntl', lock: lockless }])).toThrow(
        `${join(folder, 'locks')}: No locks available`,
      );
    });
  });

  const flock = [{ name: 'flock', lock: tryFlock }] as const;

  describe.skipIf(process.platform !== 'linux')('the flock program in place of the library', () => {
    it('excludes, and its lock lasts until it is released', () => {
      const held = tryAcquire(path, flock);
      expect(held).toBeDefined();
      expect(tryAcquire(path, flock)).toBeUndefined();
      held?.release();
      const again = tryAcquire(path, flock);
      expect(again).toBeDefined();
      again?.release();
    });

    it('that is not there is an error and never a lock', () => {
      const { PATH } = process.env;
      process.env.PATH = '/nonexistent';
      try {
        expect(() => tryAcquire(path, flock)).toThrow(/\bflock program\b/);
      } finally {
        process.env.PATH = PATH;
      }
    });
  });
});

describe('the kind of a lock', () => {
  function newLock(content?: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'lock-kind-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'default.lock');
    if (content !== undefined) writeFileSync(path, content);
    return path;
  }

  const only = (name: string) => listMechanisms().filter((kind) => kind.name === name);

  it.each(['Bun', 'Deno'])('%s has the locks of the flock program only', (runtime) => {
    vi.stubGlobal(runtime, {});
    onTestFinished(() => void vi.unstubAllGlobals());
    expect(listMechanisms().map(({ name }) => name)).toEqual(['flock']);
  });

  describe.skipIf(process.platform !== 'linux')('locks of two kinds', () => {
    it.each([
      ['fcntl', 'flock'],
      ['flock', 'fcntl'],
    ])('of which the first was %s: one that can only take %s refuses', (first, second) => {
      const path = newLock();
      const held = tryAcquire(path, only(first));
      expect(held).toBeDefined();
      expect(() => tryAcquire(path, only(second))).toThrow(first === 'fcntl' ? /fs-native-extensions/ : /flock/);
      held?.release();
      expect(() => tryAcquire(path, only(second))).toThrow(expect.objectContaining({ code: 'storage' }));
    });

    it('one that can take both takes the recorded one, and is excluded by it', () => {
      const path = newLock();
      const held = tryAcquire(path, only('flock'));
      expect(tryAcquire(path)).toBeUndefined();
      held?.release();
      const again = tryAcquire(path);
      expect(tryAcquire(path, only('flock'))).toBeUndefined();
      again?.release();
    });

    it('an empty file gets the kind of the first process', () => {
      const path = newLock('');
      tryAcquire(path, only('fcntl'))?.release();
      expect(() => tryAcquire(path, only('flock'))).toThrow(/fs-native-extensions/);
    });

    it('taken at the same time in an empty file: the first that recorded its kind has the lock', () => {
      const path = newLock('');
      const { readSync } = fs;
      let [reads, held] = [0, undefined as ReturnType<typeof tryAcquire>];
      const spy = vi.spyOn(fs, 'readSync').mockImplementation(((...given: Parameters<typeof readSync>) => {
        const read = readSync(...given);
        reads += 1;
        // The second read is that between the lock and the record of its kind.
        if (reads === 2) held = tryAcquire(path, only('fcntl'));
        return read;
      }) as typeof readSync);
      onTestFinished(() => {
        spy.mockRestore();
        syncBuiltinESMExports();
      });
      syncBuiltinESMExports();
      expect(() => tryAcquire(path, only('flock'))).toThrow(/fs-native-extensions/);
      expect(held).toBeDefined();
      held?.release();
    });

    it.each(['\0\0\0\0\0\0', 'fcnt', 'another\n'])(
      'a damaged file (%j) is recorded anew, and does not grow',
      (content) => {
        const path = newLock(content);
        tryAcquire(path, only('fcntl'))?.release();
        expect(readFileSync(path, 'utf8')).toBe('fcntl\n');
        expect(() => tryAcquire(path, only('flock'))).toThrow(/fs-native-extensions/);
      },
    );

    it('a kind that can unlock does so before the file is closed, as Windows needs it', () => {
      const calls: string[] = [];
      const kind = {
        name: 'fcntl',
        lock: () => true,
        unlock: (descriptor: number) => calls.push(`unlock ${fstatSync(descriptor).isFile()}`),
      } as const;
      tryAcquire(newLock(), [kind])?.release();
      expect(calls).toEqual(['unlock true']);
      expect(listMechanisms().some(({ unlock }) => unlock !== undefined)).toBe(process.platform === 'win32');
    });
  });
});
