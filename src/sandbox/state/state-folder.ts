import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { World } from '../world.ts';
import { lockFolder } from './folder-lock.ts';
import { JOURNAL_NAME, journalPath, type LoadedState, loadState, snapshotPath } from './load-state.ts';
import type { SandboxIdentity, SavedState } from './saved-state.ts';
import { StateFolderError } from './state-error.ts';
import { makePrivateFolder, setOwnerOnlyPermissions } from './state-files.ts';
import { type StateWriter, startStateWriter } from './state-writer.ts';

/** A state folder that this process has locked. */
export interface StateFolder {
  /** The saved state; undefined for a new folder. */
  readonly saved: SavedState | undefined;
  /** A warning about the content of the folder, such as an incomplete last record. */
  readonly notice: string | undefined;
  readonly startWriter: (world: World, identity: SandboxIdentity) => Promise<StateWriter>;
  readonly release: () => void;
}

/** The size of the journal in bytes above which a new snapshot replaces the journal. */
const COMPACT_AT = 4 * 1024 * 1024;

/**
 * Creates the folder if it does not exist, locks it and reads its content. Throws a StateError without changing the content of
 * the folder.
 */
export function openStateFolder(path: string, compactAt = COMPACT_AT): StateFolder {
  const folder = resolve(path);
  try {
    const foreign = makePrivateFolder(folder).find((name) => !isStateFile(name));
    if (foreign !== undefined && !existsSync(snapshotPath(folder))) {
      throw new StateFolderError('unusable', `${folder} is not a sandbox state folder`, {
        detail: `it contains ${foreign}`,
        hint: 'name a new or empty folder with `--state`',
      });
    }
  } catch (error) {
    throw toStateError(error, folder);
  }
  const release = lockFolder(join(folder, LOCK));
  try {
    setOwnerOnlyPermissions(folder);
    const names = makePrivateFolder(folder);
    const loaded = loadState(folder, names);
    removeLeftovers(folder, names, loaded);
    return {
      saved: loaded?.saved,
      notice: noticeOf(folder, loaded),
      startWriter: (world, identity) => {
        const needsSnapshot = !isEqual([loaded?.saved.identity, loaded?.saved.seed], [identity, world.seed]);
        return startStateWriter({ folder, world, identity, from: loaded, compactAt, needsSnapshot });
      },
      release,
    };
  } catch (error) {
    release();
    throw toStateError(error, folder);
  }
}

const LOCK = 'lock';

/** The migration engine itself writes the file `engine`, which lists the objects that migrations created on their sources. */
function isStateFile(name: string): boolean {
  return [LOCK, 'snapshot', '.snapshot.tmp', 'engine'].includes(name) || JOURNAL_NAME.test(name);
}

/** A crash during compaction leaves a journal to which no snapshot refers, and possibly an incomplete snapshot. */
function removeLeftovers(folder: string, names: readonly string[], loaded: LoadedState | undefined): void {
  const current = loaded === undefined ? undefined : journalPath(folder, loaded.journal);
  for (const name of names) {
    const path = join(folder, name);
    if (name === '.snapshot.tmp' || (JOURNAL_NAME.test(name) && path !== current)) rmSync(path, { force: true });
  }
}

function noticeOf(folder: string, loaded: LoadedState | undefined): string | undefined {
  if (loaded === undefined || loaded.tornBytes === 0) return undefined;
  const path = journalPath(folder, loaded.journal);
  return `removed an incomplete record of ${loaded.tornBytes} bytes at the end of ${path}: its requests had not been answered`;
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function toStateError(error: unknown, folder: string): StateFolderError {
  if (error instanceof StateFolderError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new StateFolderError('unusable', `could not use ${folder} as the state folder: ${reason}`, {
    hint: 'name another folder with `--state`',
  });
}
