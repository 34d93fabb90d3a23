/** Where the bytes come from. */
export interface Source {
  pause(): void;
  resume(): void;
  abort(reason: Error): void;
}

/** Bytes on their way from a source that pushes them to one reader who pulls them. */
export interface Inflow {
  push(chunk: Uint8Array): void;
  end(): void;
  fail(error: unknown): void;
  /** Whoever leaves off reading ends the source. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** More than this is not held for a reader who takes his time. */
const most = 1024 * 1024;

export function createInflow(source: Source): Inflow {
  const flow: Flow = { waiting: [], size: 0, ending: undefined, wake: () => {} };
  const end = (how: Ending): void => {
    flow.ending ??= how;
    flow.wake();
  };
  return {
    push(chunk) {
      flow.waiting.push(chunk);
      flow.size += chunk.byteLength;
      if (flow.size > most) source.pause();
      flow.wake();
    },
    end: () => end({}),
    fail: (error) => end({ error }),
    chunks: read(source, flow),
  };
}

interface Flow {
  readonly waiting: Uint8Array[];
  size: number;
  ending: Ending | undefined;
  wake: () => void;
}

interface Ending {
  readonly error?: unknown;
}

/** Stands out here because a generator within a function is a new one at every call, with a hidden class that outlives it. */
async function* read(source: Source, flow: Flow): AsyncGenerator<Uint8Array> {
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
      } else if ('error' in flow.ending) throw flow.ending.error;
      else return;
    }
  } finally {
    if (flow.ending === undefined) source.abort(new Error('nobody reads the rest'));
  }
}
