import { unlink } from 'node:fs/promises';
import type { World } from '../world.ts';
import { encodeFrame } from './frame.ts';
import { journalPath, snapshotPath } from './load-state.ts';
import { type Checkpoint, type SandboxIdentity, STATE_FORMAT } from './saved-state.ts';
import { type AppendOnlyFile, openAppendOnlyFile, replaceFileDurably } from './state-files.ts';
import { createChangeTracker, patchJson } from './state-patch.ts';
import { toWorldImage } from './world-state.ts';

/** Puts what the world does on the disk. */
export interface StateWriter {
  /** Resolves when everything the world has done until now is on the disk; undefined when it is there already. */
  readonly saved: () => Promise<void> | undefined;
  /** Resolves when the disk has refused a write; from then on nothing is saved and nothing may be answered. */
  readonly failure: Promise<Error>;
  readonly close: () => Promise<void>;
}

export interface StateWriterOptions {
  readonly folder: string;
  readonly world: World;
  readonly identity: SandboxIdentity;
  /** Where the folder stood when it was loaded; absent for an empty one. */
  readonly from: { readonly journal: number; readonly record: number; readonly sound: number } | undefined;
  /** A journal of so many bytes, or of the size of the snapshot if that is more, is folded into a new snapshot. */
  readonly compactAt: number;
  /** Whether something has changed that only a snapshot holds. */
  readonly needsSnapshot: boolean;
}

/**
 * Watches the world. While one write is on its way to the disk, changes gather; they become one line and share the next
 * write, so that the end of the journal is all that a crash can tear.
 */
export async function startStateWriter({
  folder,
  world,
  identity,
  from,
  compactAt: foldAt,
  needsSnapshot: isRenewed,
}: StateWriterOptions): Promise<StateWriter> {
  const changes = createChangeTracker();
  let waiting: Waiter[] = [];
  let [done, saved] = [0, 0];
  let [number, record] = [from?.journal ?? 0, from?.record ?? 0];
  let snapshotSize = 0;
  let isWriting = false;
  let isReplaced = false;
  let journal: AppendOnlyFile | undefined;
  let broken: Error | undefined;
  let tellFailure: (error: Error) => void = () => {};
  const failure = new Promise<Error>((resolve) => {
    tellFailure = resolve;
  });

  /** The new journal is there before the snapshot that names it, and the old one stays until nothing names it any more. */
  async function fold(): Promise<void> {
    changes.take();
    const checkpoint: Checkpoint = {
      format: STATE_FORMAT,
      version: 1,
      journal: number + 1,
      record,
      identity,
      seed: world.seed,
      world: toWorldImage(world.state),
    };
    const bytes = encodeFrame(JSON.stringify(checkpoint));
    let fresh: AppendOnlyFile | undefined;
    await replaceFileDurably(snapshotPath(folder), bytes, async () => {
      fresh = await openAppendOnlyFile(journalPath(folder, number + 1), 0);
    });
    await journal?.close();
    journal = fresh;
    snapshotSize = bytes.length;
    if (number > 0) await unlink(journalPath(folder, number)).catch(() => {});
    number += 1;
  }

  async function write(): Promise<void> {
    // Not before the handler that made the first change has come to its end.
    await undefined;
    while (saved < done && broken === undefined) {
      const upTo = done;
      try {
        if (journal === undefined || isReplaced || journal.size() > Math.max(foldAt, snapshotSize)) {
          isReplaced = false;
          await fold();
        } else {
          const line = `{"record":${record + 1},"patch":${patchJson(changes.take(), world.state)}}`;
          await journal.append(encodeFrame(line));
          record += 1;
        }
        saved = upTo;
      } catch (error) {
        broken = error instanceof Error ? error : new Error(String(error));
        tellFailure(broken);
      }
      const error = broken;
      const ready = waiting.filter((one) => error !== undefined || one.upTo <= saved);
      waiting = waiting.filter((one) => !ready.includes(one));
      for (const one of ready) error === undefined ? one.resolve() : one.reject(error);
    }
    isWriting = false;
  }

  function start(): void {
    if (isWriting) return;
    isWriting = true;
    void write();
  }

  function whenSaved(): Promise<void> | undefined {
    if (broken !== undefined) return Promise.reject(broken);
    if (saved === done) return undefined;
    return new Promise((resolve, reject) => waiting.push({ upTo: done, resolve, reject }));
  }

  if (from !== undefined) journal = await openAppendOnlyFile(journalPath(folder, from.journal), from.sound);
  world.onChange((part, key) => {
    changes.note(part, key);
    if (part === 'everything') isReplaced = true;
    done += 1;
    start();
  });
  if (journal === undefined || isRenewed) {
    isReplaced = true;
    done += 1;
    start();
    await whenSaved();
  }
  return {
    saved: whenSaved,
    failure,
    close: async () => {
      await whenSaved()?.catch(() => {});
      await journal?.close();
    },
  };
}

interface Waiter {
  readonly upTo: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}
