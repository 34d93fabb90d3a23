import { execFileSync } from 'node:child_process';
import fs, { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryName } from '../../../src/sandbox/state/journal.ts';
import {
  type LockKind,
  listLockKinds,
  lockStateFolder,
  openStateFolder,
} from '../../../src/sandbox/state/state-folder.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { lacks } from '../../fixtures/needs.ts';
import { makeFolder, openWorld } from './state-folders.ts';
import { WORLD_CHANGES } from './world-changes.ts';

/** The text of a damaged journal, made of the lines of a good one. */
type Damage = (lines: readonly string[]) => string;

const withLine =
  (line: string): Damage =>
  (lines) =>
    [...lines, line, ''].join('\n');

const CASES: Readonly<Record<string, Damage>> = {
  'an empty file': () => '',
  'half a head': ([head = '']) => head.slice(0, 99),
  'another format': (lines) => ['{"format":"other"}', ...lines.slice(1), ''].join('\n'),
  'no JSON in the middle': ([head, ...rest]) => [head, '{', ...rest, ''].join('\n'),
  'no JSON in the last line': withLine('rubbish'),
  'an empty line': ([head, ...rest]) => [head, '', ...rest, ''].join('\n'),
  'zeros in the middle': ([head, ...rest]) => [head, '\0\0\0', ...rest, ''].join('\n'),
  'an unknown member': withLine('{"put":{"color":"red"},"drop":{}}'),
  'an unknown table': withLine('{"put":{},"drop":{"colors":[]}}'),
  'a wrong type': withLine('{"put":{"nextId":"x"},"drop":{}}'),
  'a session of an unknown person': withLine('{"put":{"sessions":[{"id":"s","person":"p","forms":[]}]},"drop":{}}'),
};

describe('a damaged journal', () => {
  it.each(Object.entries(CASES))('is reported with path and line, and not changed: %s', async (_name, damage) => {
    const folder = makeFolder();
    const { world, writer, journal, close } = await openWorld(folder);
    WORLD_CHANGES.signIn?.(world, 0);
    await writer.whenSaved();
    await close();
    const damaged = damage(readFileSync(journal, 'utf8').split('\n').slice(0, -1));
    writeFileSync(journal, damaged);
    const error = errorOf(() => openStateFolder(folder));
    expect(error).toMatchObject({
      name: 'StateError',
      reason: 'damaged',
      detail: expect.stringMatching(/, line \d+: /),
    });
    expectGolden('sandbox', parts(error).replaceAll(folder, 'STATE'));
    expect(readFileSync(journal, 'utf8')).toBe(damaged);
  });
});

describe('the notice about a torn journal', () => {
  it('names the file and the number of bytes', async () => {
    const folder = makeFolder();
    const { journal, close } = await openWorld(folder);
    await close();
    writeFileSync(journal, `${readFileSync(journal, 'utf8')}{"put":{"sessions`);
    const state = openStateFolder(folder);
    state.release();
    expectGolden('sandbox', String(state.notice).replaceAll(folder, 'STATE'));
  });
});

describe('a folder that cannot be used', () => {
  it('is reported with its reason: in use, other files, not a folder', async () => {
    const folder = makeFolder();
    const other = makeFolder();
    writeFileSync(join(other, 'thesis.txt'), 'x');
    const state = openStateFolder(folder);
    const errors = [folder, other, join(other, 'thesis.txt')].map((path) => errorOf(() => openStateFolder(path)));
    state.release();
    expectGolden('sandbox', errors.map(parts).join('\n\n').replaceAll(folder, 'STATE').replaceAll(other, 'OTHER'));
  });
});

function errorOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('no error');
}

function parts(error: unknown): string {
  const { message, detail = '-', hint = '-' } = Object(error);
  return `${message}\ndetail: ${detail}\nhint: ${hint}`;
}

it('a pipe in the place of the journal is an error and does not wait for a writer', async () => {
  const folder = makeFolder();
  const { journal, close } = await openWorld(folder);
  await close();
  rmSync(journal);
  execFileSync('mkfifo', [journal]);
  expect(() => openStateFolder(folder)).toThrow(journal);
});

it('a pipe in the place of the next journal is replaced and does not wait for a reader', async () => {
  const folder = makeFolder();
  const { journal, close } = await openWorld(folder);
  await close();
  execFileSync('mkfifo', [join(folder, temporaryName(journal))]);
  const again = await openWorld(folder);
  await again.close();
  expect(statSync(journal).isFile()).toBe(true);
});

function holdsOnce(kinds?: readonly LockKind[]): void {
  const path = join(makeFolder(), 'lock');
  const release = lockStateFolder(path, kinds);
  expect(() => lockStateFolder(path, kinds)).toThrow(expect.objectContaining({ reason: 'busy' }));
  release();
  lockStateFolder(path, kinds)();
}

const only = (name: string) => listLockKinds().filter((kind) => kind.name === name);

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
    expect(() => lockStateFolder(path)).toThrow(expect.objectContaining({ reason: 'unusable' }));
  });

  it('is refused when the file was removed after it was opened', () => {
    const path = join(makeFolder(), 'lock');
    const tryLock = () => {
      rmSync(path);
      writeFileSync(path, '');
      return true;
    };
    expect(() => lockStateFolder(path, [{ name: 'fcntl', tryLock }])).toThrow(
      expect.objectContaining({ reason: 'busy' }),
    );
  });

  it('is an error with its reason when the system cannot lock files', () => {
    const tryLock = () => {
      throw new Error('no locks available');
    };
    expect(() => lockStateFolder(join(makeFolder(), 'lock'), [{ name: 'fcntl', tryLock }])).toThrow(
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
    const release = lockStateFolder(path, only(first));
    const refused = expect.objectContaining({ reason: 'unusable', message: expect.stringContaining(first) });
    expect(() => lockStateFolder(path, only(second))).toThrow(refused);
    release();
    expect(() => lockStateFolder(path, only(second))).toThrow(refused);
    expect(readFileSync(path, 'utf8')).toBe(`${first}\n`);
  });

  it('a sandbox that has both takes the recorded one, and is excluded by it', () => {
    const path = join(makeFolder(), 'lock');
    const release = lockStateFolder(path, only('flock'));
    expect(() => lockStateFolder(path)).toThrow(expect.objectContaining({ reason: 'busy' }));
    release();
    lockStateFolder(path)();
  });

  it('that are taken at the same time in an empty file: the first that recorded its kind has the lock', () => {
    const path = join(makeFolder(), 'lock');
    let release = (): void => {};
    const [flock] = only('flock');
    const second: LockKind = {
      name: 'flock',
      tryLock: (descriptor) => {
        const isLocked = flock?.tryLock(descriptor) ?? false;
        beforeNextWrite(() => {
          release = lockStateFolder(path, only('fcntl'));
        });
        return isLocked;
      },
    };
    expect(() => lockStateFolder(path, [second])).toThrow(expect.objectContaining({ reason: 'busy' }));
    expect(() => lockStateFolder(path)).toThrow(expect.objectContaining({ reason: 'busy' }));
    release();
    lockStateFolder(path)();
  });

  it.each(['\0\0\0\0\0\0', 'fcnt'])('a damaged file (%j) is recorded anew', (content) => {
    const path = join(makeFolder(), 'lock');
    writeFileSync(path, content);
    lockStateFolder(path, only('fcntl'))();
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
