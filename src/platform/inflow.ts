import type { AnswerBody } from './send.ts';

/** Where the bytes come from. */
export interface Source {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** What becomes of it. */
export interface Reading {
  /** The reader's error for what ended the source. */
  readonly failure: (error: unknown) => Error;
  /** Called once when nothing more is read; the reader waits for what it gives. */
  readonly done: () => Promise<void> | undefined;
}

/** Bytes on their way from a source that pushes them to one reader who pulls them; whoever leaves off reading ends the source. */
export interface Inflow extends AnswerBody {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** Nobody reads any more, though a reader may still wait for bytes: the source is ended. */
  leave(): void;
}

export function createInflow(source: Source, reading: Reading): Inflow {
  const flow: Flow = {
    source,
    reading,
    waiting: [],
    size: 0,
    most,
    ending: undefined,
    wake: idle,
    push,
    end,
    fail,
    leave,
    whole,
    [Symbol.asyncIterator]: read,
  };
  return flow;
}

/** Its functions are the same for all, and take it as `this`: thousands of answers come in a second, and a closure for each costs more. */
interface Flow extends Inflow {
  readonly source: Source;
  readonly reading: Reading;
  readonly waiting: Uint8Array[];
  /** Bytes of what waits. */
  size: number;
  /** The source is paused when more bytes wait. */
  most: number;
  ending: Ending | undefined;
  /** Called when something was added, or it has ended. */
  wake: () => void;
}

interface Ending {
  readonly error?: unknown;
}

/** More than this is not held for a reader who takes his time. */
const most = 1024 * 1024;
const complete: Ending = {};
const idle = (): void => {};

function push(this: Flow, chunk: Uint8Array): void {
  this.waiting.push(chunk);
  this.size += chunk.byteLength;
  if (this.size > this.most) this.source.pause();
  this.wake();
}

function end(this: Flow): void {
  this.ending ??= complete;
  this.wake();
}

function fail(this: Flow, error: unknown): void {
  this.ending ??= { error };
  this.wake();
}

function leave(this: Flow): void {
  if (this.ending === undefined) this.source.abort(new Error('nobody reads the rest'));
  this.end();
}

/** Without the promises that reading by the piece takes. */
function whole(this: Flow, limit: number): Promise<readonly Uint8Array[] | undefined> {
  return new Promise((resolve, reject) => {
    const over = (tell: () => void): void => {
      const rest = this.reading.done();
      if (rest === undefined) tell();
      else rest.then(tell, reject);
    };
    this.most = limit;
    this.wake = () => {
      const { ending, size, waiting, reading } = this;
      if (size <= limit && ending === undefined) return;
      // The source that is left tells that it has ended.
      this.wake = idle;
      if (size > limit) {
        this.leave();
        over(() => resolve(undefined));
      } else if (ending !== undefined && 'error' in ending) over(() => reject(reading.failure(ending.error)));
      else over(() => resolve(waiting));
    };
    this.source.resume();
    this.wake();
  });
}

async function* read(this: Flow): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const chunk = this.waiting.shift();
      if (chunk !== undefined) {
        this.size -= chunk.byteLength;
        yield chunk;
      } else if (this.ending === undefined) {
        this.source.resume();
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      } else if ('error' in this.ending) throw this.reading.failure(this.ending.error);
      else return;
    }
  } finally {
    if (this.ending === undefined) this.leave();
    await this.reading.done();
  }
}
