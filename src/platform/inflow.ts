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
  const waiting: Uint8Array[] = [];
  let size = 0;
  let ending: { readonly error?: unknown } | undefined;
  let wake = (): void => {};

  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = waiting.shift();
        if (chunk !== undefined) {
          size -= chunk.byteLength;
          yield chunk;
        } else if (ending === undefined) {
          source.resume();
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        } else if ('error' in ending) throw ending.error;
        else return;
      }
    } finally {
      if (ending === undefined) source.abort(new Error('nobody reads the rest'));
    }
  }
  const end = (how: { readonly error?: unknown }): void => {
    ending ??= how;
    wake();
  };
  return {
    push(chunk) {
      waiting.push(chunk);
      size += chunk.byteLength;
      if (size > most) source.pause();
      wake();
    },
    end: () => end({}),
    fail: (error) => end({ error }),
    chunks: chunks(),
  };
}
