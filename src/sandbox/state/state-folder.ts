import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import { lockSandboxStateFolder } from './folder-lock.ts';
import { readJournal, temporaryJournalName } from './journal.ts';
import { decodeState, type SavedState, type ServerIdentity } from './saved-state.ts';
import { SandboxStateFolderError } from './state-error.ts';
import { StateWriter } from './state-writer.ts';

/** A state folder that this process has locked. */
export interface StateFolder {
  /** The saved state; undefined for a new folder. */
  readonly saved: SavedState | undefined;
  /** A warning about an incomplete last line. */
  readonly notice: string | undefined;
  readonly startWriter: (world: LiveSandboxState, identity: ServerIdentity) => Promise<StateWriter>;
  readonly release: () => void;
}

const LOCK = 'lock';
const JOURNAL = 'journal';

/**
 * Creates the folder if it does not exist, locks it and reads its content. Throws a StateError without changing the content of
 * the folder.
 */
export function openStateFolder(path: string): StateFolder {
  const folder = resolve(path);
  const journal = join(folder, JOURNAL);
  let release: (() => void) | undefined;
  try {
    makeFolders(folder);
    requireOwnFiles(folder);
    release = lockSandboxStateFolder(join(folder, LOCK));
    if (process.platform !== 'win32' && (statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
    const content = readJournal(journal);
    return {
      saved: content === undefined ? undefined : decodeState(journal, content.lines),
      notice: noticeOf(journal, content?.tornBytes ?? 0),
      startWriter: async (world, identity) => {
        try {
          return await StateWriter.start(journal, world, identity);
        } catch (error) {
          throw toStateError(error, folder);
        }
      },
      release,
    };
  } catch (error) {
    release?.();
    throw toStateError(error, folder);
  }
}

/**
 * The folders are created one level at a time: with the option `recursive`, Node never returns on a file system that returns
 * ENOENT for every new name, such as /proc.
 */
function makeFolders(path: string, hasParentToMake = true): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EEXIST' && statSync(path).isDirectory()) return;
    if (code !== 'ENOENT' || !hasParentToMake || dirname(path) === path) throw error;
    makeFolders(dirname(path));
    makeFolders(path, false);
  }
}

/** The migration engine itself writes the file `engine`, which lists the objects that migrations created on their sources. */
function requireOwnFiles(folder: string): void {
  const names = readdirSync(folder);
  const foreign = names.find((name) => ![LOCK, JOURNAL, temporaryJournalName(JOURNAL), 'engine'].includes(name));
  if (foreign === undefined || names.includes(JOURNAL)) return;
  throw new SandboxStateFolderError('unusable', `${folder} is not a sandbox state folder`, {
    detail: `it contains ${foreign}`,
    hint: 'name a new or empty folder with `--state`',
  });
}

function noticeOf(journal: string, tornBytes: number): string | undefined {
  if (tornBytes === 0) return undefined;
  return `removed an incomplete line of ${tornBytes} bytes at the end of ${journal}: its requests had not been answered`;
}

function toStateError(error: unknown, folder: string): SandboxStateFolderError {
  if (error instanceof SandboxStateFolderError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new SandboxStateFolderError('unusable', `could not use ${folder} as the state folder: ${reason}`, {
    hint: 'name another folder with `--state`',
  });
}
