/** Controls the connection from which the bytes of the response come. */
export interface ResponseFlowControl {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** The body of an HTTP response: the connection adds chunks, and one reader takes them. */
export interface ReceivedResponseBodyStream {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** Ends the transfer, even while the reader waits for bytes. */
  leave(): void;
  /** The chunks of the body; ending the iteration ends the transfer. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Handlers for the end of a response body. */
export interface ReceivedResponseBodyEndHandlers {
  /** Converts an error of the HTTP connection to the error that the reader of the body receives. */
  readonly failure: (error: unknown) => Error;
  /** Called once after the last chunk was read; the reader of the body waits for the returned promise. */
  readonly done: () => Promise<void>;
}

/** Number of bytes that are buffered for a slow reader before the connection is paused. */
const maxBufferedBytes = 1024 * 1024;

export function createReceivedResponseBodyStream(
  source: ResponseFlowControl,
  reading: ReceivedResponseBodyEndHandlers,
): ReceivedResponseBodyStream {
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

/**
 * The generator function is at module level, because a generator function inside another function gets a new hidden class at
 * every call.
 */
async function* read(
  source: ResponseFlowControl,
  flow: StreamState,
  reading: ReceivedResponseBodyEndHandlers,
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
