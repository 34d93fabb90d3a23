import { unlink } from 'node:fs/promises';
import type { LiveSandboxState } from '../live-sandbox-state.ts';
import { buildSandboxJournalPath, buildSandboxSnapshotPath } from './load-state.ts';
import {
  type PersistedSandboxServerSettings,
  SANDBOX_STATE_FORMAT_NAME,
  type SandboxStateCheckpoint,
} from './saved-state.ts';
import { openSandboxJournalFile, replaceFileDurably, type SandboxJournalFile } from './state-files.ts';
import { addPendingSandboxStateChange, encodeSandboxJournalPatch, type SandboxStateChanges } from './state-patch.ts';
import { encodeSandboxStateRecord } from './state-record-encoding.ts';
import { captureRunningSandboxState } from './world-state.ts';

/** Writes the changes of the state to the state folder. */
export interface SandboxStateWriter {
  /**
   * Resolves when every change made before the call is synced to the disk; returns undefined when all changes are already
   * synced. The promise rejects after a write has failed.
   */
  readonly whenSaved: () => Promise<void> | undefined;
  /** Resolves with the error of the first write that failed. After a failed write, nothing more is written. */
  readonly failure: Promise<Error>;
  readonly close: () => Promise<void>;
}

export interface SandboxStateWriterOptions {
  readonly folder: string;
  readonly world: LiveSandboxState;
  readonly identity: PersistedSandboxServerSettings;
  /** The end of the journal when the folder was read; absent for an empty folder. */
  readonly from: { readonly journal: number; readonly record: number; readonly validBytes: number } | undefined;
  /**
   * The size of the journal in bytes above which a new snapshot replaces the journal. If the snapshot is larger than the limit
   * of the journal, the limit is the size of the snapshot.
   */
  readonly compactAt: number;
  /** Whether a value has changed that only a snapshot stores. */
  readonly needsSnapshot: boolean;
}

/**
 * Starts to write every change of the state to the folder. Changes that are made during a write form the next record together,
 * so a crash can leave only the last record of a journal incomplete.
 */
export async function startSandboxStateWriter(options: SandboxStateWriterOptions): Promise<SandboxStateWriter> {
  const { folder, world, identity, from, compactAt, needsSnapshot } = options;
  let [number, record] = [from?.journal ?? 0, from?.record ?? 0];
  let journal: SandboxJournalFile | undefined;
  if (from !== undefined)
    journal = await openSandboxJournalFile(buildSandboxJournalPath(folder, number), from.validBytes);
  let changes: SandboxStateChanges = new Map();
  let snapshotSize = 0;

  /** Creates the next journal before the snapshot that names this journal, and removes the old journal last. */
  async function writeSnapshot(): Promise<void> {
    const checkpoint: SandboxStateCheckpoint = {
      format: SANDBOX_STATE_FORMAT_NAME,
      version: 1,
      journal: number + 1,
      record,
      identity,
      seed: world.seed,
      world: captureRunningSandboxState(world.state),
    };
    const bytes = encodeSandboxStateRecord(JSON.stringify(checkpoint));
    const next = await openSandboxJournalFile(buildSandboxJournalPath(folder, number + 1), 0);
    await replaceFileDurably(buildSandboxSnapshotPath(folder), bytes);
    await journal?.close();
    journal = next;
    snapshotSize = bytes.length;
    if (number > 0) await unlink(buildSandboxJournalPath(folder, number)).catch(() => {});
    number += 1;
  }

  async function writeChanges(): Promise<void> {
    const written = changes;
    changes = new Map();
    if (journal === undefined || written.has('everything') || journal.size() > Math.max(compactAt, snapshotSize)) {
      return writeSnapshot();
    }
    await journal.append(
      encodeSandboxStateRecord(`{"record":${record + 1},"patch":${encodeSandboxJournalPatch(written, world.state)}}`),
    );
    record += 1;
  }

  let reportFailure: (error: Error) => void = () => {};
  const failure = new Promise<Error>((resolve) => {
    reportFailure = resolve;
  });
  /** The write that includes the latest change; undefined when the write has ended. */
  let pending: Promise<void> | undefined;
  /**
   * Whether the write `pending` has not begun, so that it will include further changes. After a failed write, `isScheduled`
   * stays true.
   */
  let isScheduled = false;

  function scheduleWrite(): void {
    if (isScheduled) return;
    isScheduled = true;
    // The write begins at the earliest in the next microtask, because the handler that made the change may make further
    // changes.
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
    addPendingSandboxStateChange(changes, part, key);
    scheduleWrite();
  });
  if (journal === undefined || needsSnapshot) {
    addPendingSandboxStateChange(changes, 'everything', undefined);
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
