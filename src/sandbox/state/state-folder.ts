import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import { lockSandboxStateFolder } from './folder-lock.ts';
import {
  buildSandboxJournalPath,
  buildSandboxSnapshotPath,
  type LoadedSandboxState,
  loadSandboxState,
  SANDBOX_JOURNAL_NAME_PATTERN,
} from './load-state.ts';
import type { PersistedSandboxServerSettings, SavedSandboxState } from './saved-state.ts';
import { SandboxStateFolderError } from './state-error.ts';
import { createPrivateFolderAndListFiles, setOwnerOnlyFolderPermissions } from './state-files.ts';
import { type SandboxStateWriter, startSandboxStateWriter } from './state-writer.ts';

/** A state folder that this process has locked. */
export interface SandboxStateFolder {
  /** The saved state; undefined for a new folder. */
  readonly saved: SavedSandboxState | undefined;
  /** A warning about the content of the folder, such as an incomplete last record. */
  readonly notice: string | undefined;
  readonly startWriter: (
    world: LiveSandboxState,
    identity: PersistedSandboxServerSettings,
  ) => Promise<SandboxStateWriter>;
  readonly release: () => void;
}

/** The size of the journal in bytes above which a new snapshot replaces the journal. */
const COMPACT_AT = 4 * 1024 * 1024;

/**
 * Creates the folder if it does not exist, locks it and reads its content. Throws a StateError without changing the content of
 * the folder.
 */
export function openSandboxStateFolder(path: string, compactAt = COMPACT_AT): SandboxStateFolder {
  const folder = resolve(path);
  try {
    const foreign = createPrivateFolderAndListFiles(folder).find((name) => !isStateFile(name));
    if (foreign !== undefined && !existsSync(buildSandboxSnapshotPath(folder))) {
      throw new SandboxStateFolderError('unusable', `${folder} is not a sandbox state folder`, {
        detail: `it contains ${foreign}`,
        hint: 'name a new or empty folder with `--state`',
      });
    }
  } catch (error) {
    throw toStateError(error, folder);
  }
  const release = lockSandboxStateFolder(join(folder, LOCK));
  try {
    setOwnerOnlyFolderPermissions(folder);
    const names = createPrivateFolderAndListFiles(folder);
    const loaded = loadSandboxState(folder, names);
    removeLeftovers(folder, names, loaded);
    return {
      saved: loaded?.saved,
      notice: noticeOf(folder, loaded),
      startWriter: (world, identity) => {
        const needsSnapshot = !isEqual([loaded?.saved.identity, loaded?.saved.seed], [identity, world.seed]);
        return startSandboxStateWriter({ folder, world, identity, from: loaded, compactAt, needsSnapshot });
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
  return [LOCK, 'snapshot', '.snapshot.tmp', 'engine'].includes(name) || SANDBOX_JOURNAL_NAME_PATTERN.test(name);
}

/** A crash during compaction leaves a journal to which no snapshot refers, and possibly an incomplete snapshot. */
function removeLeftovers(folder: string, names: readonly string[], loaded: LoadedSandboxState | undefined): void {
  const current = loaded === undefined ? undefined : buildSandboxJournalPath(folder, loaded.journal);
  for (const name of names) {
    const path = join(folder, name);
    if (name === '.snapshot.tmp' || (SANDBOX_JOURNAL_NAME_PATTERN.test(name) && path !== current))
      rmSync(path, { force: true });
  }
}

function noticeOf(folder: string, loaded: LoadedSandboxState | undefined): string | undefined {
  if (loaded === undefined || loaded.tornBytes === 0) return undefined;
  const path = buildSandboxJournalPath(folder, loaded.journal);
  return `removed an incomplete record of ${loaded.tornBytes} bytes at the end of ${path}: its requests had not been answered`;
}

function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function toStateError(error: unknown, folder: string): SandboxStateFolderError {
  if (error instanceof SandboxStateFolderError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new SandboxStateFolderError('unusable', `could not use ${folder} as the state folder: ${reason}`, {
    hint: 'name another folder with `--state`',
  });
}
