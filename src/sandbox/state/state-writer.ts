import { emptyReply, type Reply } from '../http/reply.ts';
import type { World } from '../world.ts';
import { Journal } from './journal.ts';
import { type ChangedParts, encodeChange, encodeState, type ServerIdentity } from './saved-state.ts';
import type { RowKey } from './tables.ts';
import type { ChangedPart } from './world-state.ts';

/**
 * Writes every change of the state to the journal. The changes that are made during a write form the next line together, so a
 * sync serves all requests that waited for it, and a crash can leave only the last line incomplete.
 */
export class StateWriter {
  /** Resolves with the error of the first write that failed. After a failed write, nothing more is written. */
  readonly failure: Promise<Error>;
  #reportFailure: (error: Error) => void = () => {};
  readonly #world: World;
  readonly #identity: ServerIdentity;
  readonly #journal: Journal;
  #changed: ChangedParts = new Map();
  /** The write that includes the latest change; undefined when it has ended, unless it failed. */
  #pending: Promise<void> | undefined;
  /** Whether that write has not begun, so that it will include further changes. Stays true after a failed write. */
  #isScheduled = false;

  private constructor(world: World, identity: ServerIdentity, journal: Journal) {
    this.#world = world;
    this.#identity = identity;
    this.#journal = journal;
    this.failure = new Promise((resolve) => {
      this.#reportFailure = resolve;
    });
    world.onChange((part, key) => this.#change(part, key));
  }

  /** Rewrites the journal with the present state, so that the file does not grow from start to start. */
  static async start(path: string, world: World, identity: ServerIdentity): Promise<StateWriter> {
    const writer = new StateWriter(world, identity, new Journal(path));
    try {
      writer.#change('everything');
      await writer.whenSaved();
    } catch (error) {
      await writer.close();
      throw error;
    }
    return writer;
  }

  /**
   * Resolves when every change made before the call is synced to the disk; returns undefined when all changes are already
   * synced. The promise rejects after a write has failed.
   */
  whenSaved(): Promise<void> | undefined {
    return this.#pending;
  }

  /**
   * Delays the reply until every change that it may reveal is synced to the disk: the changes of its own request and those of
   * other requests that it may have read. After a failed write, the reply becomes a 500 with an empty body.
   */
  hold(reply: Reply | Promise<Reply>): Reply | Promise<Reply> {
    if (reply instanceof Promise) return reply.then((settled) => this.hold(settled));
    const saved = this.whenSaved();
    return saved === undefined
      ? reply
      : saved.then(
          () => reply,
          () => emptyReply(500),
        );
  }

  async close(): Promise<void> {
    await this.#pending?.catch(() => {});
    await this.#journal.close();
  }

  #change(part: ChangedPart, key?: RowKey): void {
    const keys = this.#changed.get(part) ?? new Set();
    if (key !== undefined) keys.add(key);
    this.#changed.set(part, keys);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // The write begins at the earliest in the next microtask, because the handler that made the change may make more.
    const write = Promise.resolve(this.#pending).then(() => this.#write());
    this.#pending = write;
    write.then(
      () => {
        if (this.#pending === write) this.#pending = undefined;
      },
      (error: unknown) => {
        this.#isScheduled = true;
        this.#reportFailure(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  #write(): Promise<void> {
    this.#isScheduled = false;
    const changed = this.#changed;
    this.#changed = new Map();
    return changed.has('everything')
      ? this.#journal.rewrite(encodeState(this.#world, this.#identity))
      : this.#journal.append(encodeChange(changed, this.#world.state));
  }
}
