import { unlink } from 'node:fs/promises';
import type { World } from '../world.ts';
import { encodeFrame } from './frame.ts';
import { journalPath, snapshotPath } from './load-state.ts';
import { type SandboxIdentity, type SavedStateCheckpoint, STATE_FORMAT } from './saved-state.ts';
import { type JournalFile, openJournalFile, replaceFileDurably } from './state-files.ts';
import { encodeStatePatch, recordStateChange, type StateChanges } from './state-patch.ts';
import { toWorldImage } from './world-state.ts';

/** Writes the changes of the world to its state folder. */
export interface StateWriter {
  /** Resolves when every change up to now is synced to disk; undefined when it already is. Rejects after a failed write. */
  readonly whenSaved: () => Promise<void> | undefined;
  /** Resolves with the error of the first write that failed. Nothing is written after it. */
  readonly failure: Promise<Error>;
  readonly close: () => Promise<void>;
}

export interface StateWriterOptions {
  readonly folder: string;
  readonly world: World;
  readonly identity: SandboxIdentity;
  /** Where the journal ended when the folder was read; absent for an empty folder. */
  readonly from: { readonly journal: number; readonly record: number; readonly validBytes: number } | undefined;
  /** Size of the journal in bytes above which a new snapshot replaces it. A snapshot that is larger raises the limit to its own size. */
  readonly compactAt: number;
  /** Whether something changed that only a snapshot stores. */
  readonly needsSnapshot: boolean;
}

/**
 * Subscribes to the changes of the world. Changes that happen during a write form the next record together, so a crash can
 * leave only the last record of a journal incomplete.
 */
export async function startStateWriter(options: StateWriterOptions): Promise<StateWriter> {
  const { folder, world, identity, from, compactAt, needsSnapshot } = options;
  let [number, record] = [from?.journal ?? 0, from?.record ?? 0];
  let journal: JournalFile | undefined;
  if (from !== undefined) journal = await openJournalFile(journalPath(folder, number), from.validBytes);
  let changes: StateChanges = new Map();
  let snapshotSize = 0;

  /** Creates the next journal before the snapshot that names it, and removes the old journal last. */
  async function writeSnapshot(): Promise<void> {
    const checkpoint: SavedStateCheckpoint = {
      format: STATE_FORMAT,
      version: 1,
      journal: number + 1,
      record,
      identity,
      seed: world.seed,
      world: toWorldImage(world.state),
    };
    const bytes = encodeFrame(JSON.stringify(checkpoint));
    const next = await openJournalFile(journalPath(folder, number + 1), 0);
    await replaceFileDurably(snapshotPath(folder), bytes);
    await journal?.close();
    journal = next;
    snapshotSize = bytes.length;
    if (number > 0) await unlink(journalPath(folder, number)).catch(() => {});
    number += 1;
  }

  async function writeChanges(): Promise<void> {
    const written = changes;
    changes = new Map();
    if (journal === undefined || written.has('everything') || journal.size() > Math.max(compactAt, snapshotSize)) {
      return writeSnapshot();
    }
    await journal.append(encodeFrame(`{"record":${record + 1},"patch":${encodeStatePatch(written, world.state)}}`));
    record += 1;
  }

  let reportFailure: (error: Error) => void = () => {};
  const failure = new Promise<Error>((resolve) => {
    reportFailure = resolve;
  });
  /** The write that includes the latest change; undefined when it is done. */
  let pending: Promise<void> | undefined;
  /** Whether `pending` has not begun, so that it includes further changes. Stays true after a failure. */
  let isScheduled = false;

  function scheduleWrite(): void {
    if (isScheduled) return;
    isScheduled = true;
    // A microtask later at the earliest, because the handler that made the change may make more.
    const write = Promise.resolve(pending).then(() => {
      isScheduled = false;
      return writeChanges();
    });
    pending = write;
    write.then(
      () => {
        if (pending === write) pending = undefined;
      },
      (error: unknown) => {
        isScheduled = true;
        reportFailure(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  world.onChange((part, key) => {
    recordStateChange(changes, part, key);
    scheduleWrite();
  });
  if (journal === undefined || needsSnapshot) {
    recordStateChange(changes, 'everything', undefined);
    scheduleWrite();
    await pending;
  }
  return {
    whenSaved: () => pending,
    failure,
    close: async () => {
      await pending?.catch(() => {});
      await journal?.close();
    },
  };
}
