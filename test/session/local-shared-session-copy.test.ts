import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLocalSharedSessionCopyAccess } from '../../src/session/local-shared-session-copy.ts';
import { listRefreshJournalFiles, profilePaths } from '../../src/session/profile-paths.ts';
import { testHost } from '../fixtures/host.ts';
import { sandboxFor } from '../sandbox/requests.ts';
import { interceptOperations, sharedMachines } from './shared-machines.ts';

function copyAccess() {
  const place = profilePaths(testHost().folders.state, 'default');
  const warnings: string[] = [];
  const access = createLocalSharedSessionCopyAccess({
    place,
    share: 'a',
    sealer: { open: () => ({ kind: 'damaged' }) },
    clock: { offset: () => 7 },
    warn: async (text) => void warnings.push(text),
  });
  return { place, access, warnings };
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
