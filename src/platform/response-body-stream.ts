/** The connection that the bytes come from. */
export interface ResponseFlowControl {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** The body of a response: the source pushes chunks, and one reader pulls them. */
export interface ResponseBodyStream {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** Ends the source, also while the reader waits for bytes. */
  leave(): void;
  /** The end of the iteration ends the source. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The end of a body. */
export interface BodyReadHandler {
  /** Maps the error of the source to the error for the reader. */
  readonly failure: (error: unknown) => Error;
  /** Called once after the last read; the reader waits for it. */
  readonly done: () => Promise<void>;
}

/** Bytes that are buffered for a slow reader before the source is paused. */
const maxBufferedBytes = 1024 * 1024;

export function createResponseBodyStream(source: ResponseFlowControl, reading: BodyReadHandler): ResponseBodyStream {
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
      if (flow.ending === undefined) source.abort(new Error('the rest of the body is not read'));
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

/** On module level, because a generator function within a function gets a new hidden class at every call. */
async function* read(
  source: ResponseFlowControl,
  flow: StreamState,
  reading: BodyReadHandler,
): AsyncGenerator<Uint8Array> {
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
    if (flow.ending === undefined) source.abort(new Error('the rest of the body is not read'));
    await reading.done();
  }
}
