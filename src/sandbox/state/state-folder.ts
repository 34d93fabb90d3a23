import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { World } from '../world.ts';
import { lockFolder } from './folder-lock.ts';
import { JOURNAL_NAME, journalPath, type LoadedState, loadState, snapshotPath } from './load-state.ts';
import type { SandboxIdentity, SavedState } from './saved-state.ts';
import { StateError } from './state-error.ts';
import { makePrivateFolder, restrictToOwner } from './state-files.ts';
import { type StateWriter, startStateWriter } from './state-writer.ts';

/** A state folder that is this sandbox's alone until it is released. */
export interface StateFolder {
  readonly saved: SavedState | undefined;
  /** Something the person should know about what was found. */
  readonly notice: string | undefined;
  readonly startWriter: (world: World, identity: SandboxIdentity) => Promise<StateWriter>;
  readonly release: () => void;
}

/** Bytes of a journal from which on it is folded into a new snapshot. */
const FOLD_AT = 4 * 1024 * 1024;

/** Locks the folder, makes it when it is not there, and reads what is in it. Throws a StateError; then nothing was changed. */
export function openStateFolder(path: string, foldAt = FOLD_AT): StateFolder {
  const folder = resolve(path);
  const strange = listed(folder).find((name) => !isOurs(name));
  if (strange !== undefined && !existsSync(snapshotPath(folder))) {
    throw new StateError('unusable', `${folder} is no state folder of a sandbox`, {
      detail: `it holds ${strange}`,
      hint: 'name an empty folder or a new one with `--state`',
    });
  }
  const release = lockFolder(join(folder, LOCK));
  try {
    restrictToOwner(folder);
    const names = listed(folder);
    const loaded = loadState(folder, names);
    removeLeftovers(folder, names, loaded);
    return {
      saved: loaded?.saved,
      notice: noticeOf(folder, loaded),
      startWriter: (world, identity) => {
        const isRenewed = !isEqual([loaded?.saved.identity, loaded?.saved.seed], [identity, world.seed]);
        return startStateWriter({ folder, world, identity, from: loaded, compactAt: foldAt, needsSnapshot: isRenewed });
      },
      release,
    };
  } catch (error) {
    release();
    throw readable(error, folder);
  }
}

const LOCK = 'lock';

/** `engine` keeps what migrations have made on their sources, beside the world and with a life of its own. */
function isOurs(name: string): boolean {
  return [LOCK, 'snapshot', '.snapshot.tmp', 'engine'].includes(name) || JOURNAL_NAME.test(name);
}

function listed(folder: string): readonly string[] {
  try {
    return makePrivateFolder(folder);
  } catch (error) {
    throw readable(error, folder);
  }
}

/** A crash while a snapshot was made leaves a journal that nothing names, and perhaps half a snapshot. */
function removeLeftovers(folder: string, names: readonly string[], loaded: LoadedState | undefined): void {
  const current = loaded === undefined ? undefined : journalPath(folder, loaded.journal);
  for (const name of names) {
    const path = join(folder, name);
    if (name === '.snapshot.tmp' || (JOURNAL_NAME.test(name) && path !== current)) rmSync(path, { force: true });
  }
}

function noticeOf(folder: string, loaded: LoadedState | undefined): string | undefined {
  if (loaded === undefined || loaded.torn === 0) return undefined;
  return `${journalPath(folder, loaded.journal)} ended in half a line of ${loaded.torn} bytes, which was cut off: nobody had been answered`;
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function readable(error: unknown, folder: string): Error {
  if (error instanceof StateError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StateError('unusable', `could not use ${folder} for the state of the sandbox: ${reason}`, {
    hint: 'name a folder of your own with `--state`',
  });
}
