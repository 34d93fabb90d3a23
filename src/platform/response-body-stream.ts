/** Where the bytes come from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** Bytes on their way from a source that pushes them to one reader who pulls them. */
export interface ResponseBodyStream {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** Nobody reads any more, though a reader may still wait for bytes: the source is ended. */
  leave(): void;
  /** Whoever leaves off reading ends the source. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** What becomes of it. */
export interface BodyReadHandler {
  /** The reader's error for what ended the source. */
  readonly failure: (error: unknown) => Error;
  /** Called once when nothing more is read; the reader waits for it. */
  readonly done: () => Promise<void>;
}

/** More than this is not held for a reader who takes his time. */
const maxBufferedBytes = 1024 * 1024;

export function createResponseBodyStream(source: BodySource, reading: BodyReadHandler): ResponseBodyStream {
  const flow: StreamState = { waiting: [], size: 0, ending: undefined, wake: () => {} };
  const end = (how: StreamEnd): void => {
    flow.ending ??= how;
    flow.wake();
  };
  return {
    push(chunk) {
      flow.waiting.push(chunk);
      flow.size += chunk.byteLength;
      if (flow.size > maxBufferedBytes) source.pause();
      flow.wake();
    },
    end: () => end({}),
    fail: (error) => end({ error }),
    leave() {
      if (flow.ending === undefined) source.abort(new Error('nobody reads the rest'));
      end({});
    },
    chunks: read(source, flow, reading),
  };
}

interface StreamState {
  readonly waiting: Uint8Array[];
  size: number;
  ending: StreamEnd | undefined;
  wake: () => void;
}

interface StreamEnd {
  readonly error?: unknown;
}

/** Stands out here because a generator within a function is a new one at every call, with a hidden class that outlives it. */
async function* read(source: BodySource, flow: StreamState, reading: BodyReadHandler): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const chunk = flow.waiting.shift();
      if (chunk !== undefined) {
        flow.size -= chunk.byteLength;
        yield chunk;
      } else if (flow.ending === undefined) {
        source.resume();
        await new Promise<void>((resolve) => {
          flow.wake = resolve;
        });
      } else if ('error' in flow.ending) throw reading.failure(flow.ending.error);
      else return;
    }
  } finally {
    if (flow.ending === undefined) source.abort(new Error('nobody reads the rest'));
    await reading.done();
  }
}
