import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tryAcquireFileLock } from '../../src/platform/file-lock.ts';
import { createLocalSharedSessionCopyAccess } from '../../src/session/local-shared-session-copy.ts';
import { listRefreshJournalFiles, profilePaths } from '../../src/session/profile-paths.ts';
import { readLocalCopyOfSharedSession, writeLocalCopyOfSharedSession } from '../../src/session/shared-copy.ts';
import { createSharedStoreClock } from '../../src/session/shared-store-clock.ts';
import { testHost } from '../fixtures/host.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { interceptOperations, sharedMachines } from './shared-machines.ts';

/** `onWarning`: what another command does while a warning is printed. */
function copyAccess(onWarning: () => void = () => undefined) {
  const host = testHost();
  const place = profilePaths(host.folders.state, 'default');
  const warnings: string[] = [];
  const access = createLocalSharedSessionCopyAccess({
    place,
    share: 'a',
    sealer: { open: () => ({ kind: 'damaged' }) },
    clock: { ...createSharedStoreClock(host.clock), offset: () => 7 },
    random: host.random,
    warn: async (text) => {
      warnings.push(text);
      onWarning();
    },
  });
  /** Stores a copy, as another command does. */
  const write = (gen: number): void =>
    writeLocalCopyOfSharedSession(place, { ...sealed, gen, share: 'a', clockOffset: 0 });
  const lockCopy = () => {
    const lock = tryAcquireFileLock(`${place.sharedCopyFile}.lock`);
    if (lock === undefined) throw new Error('another command has the lock');
    return lock;
  };
  return { place, access, warnings, write, lockCopy };
}

const sealed = { epoch: 5, gen: 2, sid: 's', kid: 'k', record: 'AAAA' };

/** Runs `work` without the rights of root, which may read every file. */
async function asOrdinaryUser(folder: string, work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work();
  const user = 65_534;
  for (let path = folder; path.startsWith(`${tmpdir()}/`); path = dirname(path)) chmodSync(path, 0o755);
  chownSync(folder, user, user);
  for (const name of readdirSync(folder)) chownSync(join(folder, name), user, user);
  process.seteuid?.(user);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}

describe('the copy of a shared session', () => {
  it('is replaced by a newer record, and not by an older one', async () => {
    const { access, warnings } = copyAccess();
    expect(access.read()).toEqual({ copy: undefined, opened: undefined });
    expect(await access.keep(sealed)).toBe(true);
    expect(await access.keep({ ...sealed, gen: 1 })).toBe(true);
    expect(access.read()).toMatchObject({ copy: { gen: 2, clockOffset: 7 }, opened: { kind: 'damaged' } });
    expect(warnings).toEqual([]);
  });

  it('is not replaced by an older record if another command stores a newer one during the warning', async () => {
    const { access, warnings, write } = copyAccess(() => write(9));
    write(1);
    expect(await access.keep(sealed, {}, 'tokens_not_stored')).toBe(true);
    expect(access.read().copy).toMatchObject({ gen: 9 });
    expect(warnings).toHaveLength(1);
  });

  it('is compared and replaced under its lock, also by a command without the lock of the profile', async () => {
    const { access, write, lockCopy, warnings } = copyAccess();
    const lock = lockCopy();
    const kept = access.keep(sealed);
    await sleep(100);
    expect(access.read().copy).toBeUndefined();
    write(9);
    lock.release();
    expect(await kept).toBe(true);
    expect(access.read().copy).toMatchObject({ gen: 9 });
    expect(warnings).toEqual([]);
  });

  it('keeps the warning that was printed if another command has the lock, and loses no newer record', async () => {
    const { place, access, lockCopy } = copyAccess();
    const unshown = { ...sealed, share: 'a', clockOffset: 0, unshownWarning: 'tokens_not_stored' } as const;
    writeLocalCopyOfSharedSession(place, unshown);
    const lock = lockCopy();
    const shown = access.showUnshownWarning();
    await sleep(100);
    expect(access.read().copy).toMatchObject({ unshownWarning: 'tokens_not_stored' });
    writeLocalCopyOfSharedSession(place, { ...unshown, gen: 9 });
    lock.release();
    await shown;
    const copy = readLocalCopyOfSharedSession(place, 'a');
    expect([copy?.gen, copy?.unshownWarning]).toEqual([9, undefined]);
  });

  it('is not replaced, with one warning, if its lock does not become free', async () => {
    const { access, write, lockCopy, warnings } = copyAccess();
    write(1);
    const lock = lockCopy();
    expect(await access.keep(sealed)).toBe(false);
    expect(await access.keep(sealed)).toBe(false);
    expect(access.read().copy).toMatchObject({ gen: 1 });
    expect(warnings).toHaveLength(1);
    lock.release();
    expect(await access.keep(sealed)).toBe(true);
  });

  it('that cannot be read is not replaced, because it may be newer: one warning', async () => {
    const { place, access, warnings } = copyAccess();
    await access.keep({ ...sealed, gen: 9 });
    const text = readFileSync(place.sharedCopyFile, 'utf8');
    await asOrdinaryUser(place.folder, async () => {
      chmodSync(place.sharedCopyFile, 0o000);
      expect(access.read().copy).toBeUndefined();
      expect(await access.keep(sealed)).toBe(false);
      expect(await access.keep(sealed)).toBe(false);
    });
    chmodSync(place.sharedCopyFile, 0o600);
    expect(readFileSync(place.sharedCopyFile, 'utf8')).toBe(text);
    expect(warnings).toEqual([expect.stringContaining('EACCES')]);
  });
});

it('a refresh whose record cannot be kept leaves its write-ahead file, which repairs a restored store', async () => {
  const sandbox = await sandboxFor();
  const { machine, login, server } = sharedMachines(sandbox);
  const first = machine('ci-1#a');
  await login(first, 60);
  const { sharedCopyFile } = first.place;
  const [backup, old] = [server.row(), readFileSync(sharedCopyFile, 'utf8')];
  const undo = interceptOperations(server, async (operation, run) => {
    const snapshot = await run(operation);
    if (operation.op !== 'commit') return snapshot;
    rmSync(sharedCopyFile);
    mkdirSync(sharedCopyFile);
    return snapshot;
  });
  const token = await first.session().bearer();
  undo();
  expect(first.deps.warnings).toHaveLength(1);
  expect(listRefreshJournalFiles(first.place)).toHaveLength(1);
  // Another command under the lock still cannot write the copy.
  await first.session().record();
  expect(listRefreshJournalFiles(first.place)).toHaveLength(1);
  rmSync(sharedCopyFile, { recursive: true });
  writeFileSync(sharedCopyFile, old);
  server.restore(backup);
  expect((await first.session().bearer()).reveal()).toBe(token.reveal());
  expect(server.row()).toMatchObject({ gen: 2 });
  expect(listRefreshJournalFiles(first.place)).toEqual([]);
});
