import { type FailpointObserver, reached } from './failpoints.ts';
import { type BegunEntry, beginEntry, type Journal, type Journaled, type Newest, type RecordCodec } from './journal.ts';

export { createFileJournal, findNewest, type Journaled, type Newest, type RecordCodec } from './journal.ts';
export { refreshMargin } from './record.ts';

/** What the server said to a refresh. */
export type RefreshAnswer<R> =
  | { readonly kind: 'granted'; readonly next: R }
  /** The server refused the refresh token, so the session has ended unless another process has stored a newer record. */
  | {
      readonly kind: 'ended';
      readonly ended: R;
      readonly error: Error;
      /** Whether an earlier request with the same token may have been processed. */
      readonly mayBeProcessed: boolean;
    }
  /** `mayBeProcessed` is false only if the server certainly did not process any of the requests. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly mayBeProcessed: boolean };

/** One refresh of a session, as its store and its server do it. All functions are called with the lock of the session held. */
export interface RefreshSteps<R extends Journaled> extends FailpointObserver {
  readonly codec: RecordCodec<R>;
  readonly journal: Journal;
  readonly random: (bytes: number) => Uint8Array;
  readonly sleep: (ms: number) => Promise<void>;
  /** The record in the store or its journal now, which another process may have changed. */
  readonly read: () => Promise<R | undefined>;
  /** Stores the record; the result is false if the store now has another session or a newer record, which it keeps. */
  readonly write: (next: R) => Promise<boolean>;
  /** Sends the refresh token; calls `keep` with the record of a response as soon as it was read. */
  readonly send: (keep: (next: R) => Promise<void>) => Promise<RefreshAnswer<R>>;
  /** Called when the store did not take the record; throws if the record is lost or the refresh has to count as failed. */
  readonly onUnstored: (error: unknown, isKept: boolean) => Promise<void>;
}

/** Milliseconds to wait until another process has stored the response that it has received. */
const rivalTimeoutMs = 2_000;

/**
 * Refreshes the session once. The space for the response is on the disk before the request is sent, and the response is on the
 * disk before it is stored (docs/sessions.md), so that an interruption loses nothing that has arrived. Resolves with the record
 * that is now the newest.
 */
export async function refreshOnce<R extends Journaled>(
  steps: RefreshSteps<R>,
  found: Newest<R>,
  sentAt: number,
): Promise<R> {
  const { codec, journal, random } = steps;
  const entry = await beginEntry(journal, found, codec, { sentAt, random });
  reached(steps, 'K2-reserved');
  let isKept = false;
  const keep = async (next: R): Promise<void> => {
    isKept = await entry.keep(next);
  };
  try {
    const answer = await steps.send(keep);
    switch (answer.kind) {
      case 'granted':
        return await store(steps, entry, answer.next, isKept);
      case 'failed':
        if (!answer.mayBeProcessed) await entry.discard();
        throw answer.error;
      case 'ended': {
        const newer = await waitForNewer(steps, found.record, entry.hasRival);
        if (newer !== undefined) {
          await entry.discard();
          return newer;
        }
        await end(steps, entry, answer.ended);
        if (!answer.mayBeProcessed) await entry.discard();
        throw answer.error;
      }
      default:
        return answer satisfies never;
    }
  } finally {
    entry.close();
  }
}

async function store<R extends Journaled>(
  steps: RefreshSteps<R>,
  entry: BegunEntry<R>,
  next: R,
  isKept: boolean,
): Promise<R> {
  reached(steps, 'K9-storing');
  try {
    // Another process has changed the store after it was read, so the stored record is the current one.
    if (!(await steps.write(next))) {
      await entry.remove();
      return (await steps.read()) ?? next;
    }
  } catch (error) {
    await steps.onUnstored(error, isKept);
    return next;
  }
  reached(steps, 'K10-stored');
  await entry.remove();
  reached(steps, 'K10-cleared');
  return next;
}

/** If the store fails, the next command sends the refused token once more: the user has to log in in either case. */
async function end<R extends Journaled>({ write }: RefreshSteps<R>, entry: BegunEntry<R>, ended: R): Promise<void> {
  try {
    if (await write(ended)) await entry.remove();
  } catch {
    // See above.
  }
}

/**
 * Waits for the record of another process that has sent the same refresh token. The other process began its journal before its
 * request, so it is recognized by that journal as long as its record is not stored.
 */
async function waitForNewer<R extends Journaled>(
  { read, sleep }: RefreshSteps<R>,
  sent: R,
  hasRivalNow: () => boolean,
): Promise<R | undefined> {
  const pauseMs = 50;
  for (let left = rivalTimeoutMs; ; left -= pauseMs) {
    // `hasRivalNow` is called first: another process stores its record before it ends, so if no other process is left, the
    // record that is read next is final.
    const hasRival = hasRivalNow();
    const stored = await read().catch(() => undefined);
    if (stored !== undefined && (stored.sid !== sent.sid || stored.gen > sent.gen)) return stored;
    if (!hasRival || left <= 0) return undefined;
    await sleep(pauseMs);
  }
}
