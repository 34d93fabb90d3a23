import type { Client, Submittable } from './pg.ts';
import type { QueryError } from './query-error.ts';

/**
 * Hands on what the server sends, row by row: a promise that `take` returns holds the server back until it settles. The
 * bytes are good until `take` returns. Resolves with the number of rows.
 */
export type CopyOut = (text: string, take: (bytes: Uint8Array) => Promise<void> | undefined) => Promise<number>;

export type CopyIn = (text: string) => Promise<CopySink>;

export interface CopySink {
  /** Takes a copy of the bytes. A promise: the server is behind, and more should wait for it. */
  write(bytes: Uint8Array): Promise<void> | undefined;
  /** Resolves with the number of rows the server has taken. */
  finish(): Promise<number>;
  /** Nothing of it stays on the server. */
  abandon(): Promise<void>;
}

/** The session below: how to hear of its end, and how to end it. */
export interface CopyTransport {
  readonly signal: AbortSignal | undefined;
  readonly drop: () => void;
  readonly toError: (error: unknown) => QueryError;
}

export async function copyOut(
  client: Client,
  carrier: CopyTransport,
  ...[text, take]: Parameters<CopyOut>
): Promise<number> {
  const answer = createCopyHandlers(carrier);
  client.query({
    ...answer.handlers,
    submit: (connection) => connection.query(text),
    handleCopyData({ chunk }, { stream }) {
      const wait = take(chunk);
      if (wait === undefined) return;
      stream.pause();
      wait.then(
        () => stream.resume(),
        (error: unknown) => {
          // The rest of the table is on its way, and nobody wants it.
          answer.fail(error);
          carrier.drop();
        },
      );
    },
  });
  return answer.rows;
}

/** As much as is sent in one piece: a message for each row would cost a system call for each row. */
const chunkSize = 65_536;

export async function copyIn(client: Client, carrier: CopyTransport, text: string): Promise<CopySink> {
  const answer = createCopyHandlers(carrier);
  const buffer = Buffer.allocUnsafe(chunkSize);
  let filled = 0;
  const { connection } = client;
  const flush = (bytes: Uint8Array): Promise<void> | undefined => {
    connection.sendCopyFromChunk(bytes);
    if (!connection.stream.writableNeedDrain) return undefined;
    return Promise.race([
      new Promise<void>((resolve) => connection.stream.once('drain', resolve)),
      answer.rows.then(() => {}),
    ]);
  };
  await new Promise<void>((resolve, reject) => {
    answer.rows.catch(reject);
    client.query({
      ...answer.handlers,
      submit: () => connection.query(text),
      handleCopyInResponse: () => resolve(),
    });
  });
  return {
    write(bytes) {
      if (answer.failed()) return answer.rows.then(() => {});
      let wait: Promise<void> | undefined;
      if (filled + bytes.length > chunkSize) {
        wait = flush(buffer.subarray(0, filled));
        filled = 0;
      }
      if (bytes.length > chunkSize) return flush(bytes);
      buffer.set(bytes, filled);
      filled += bytes.length;
      return wait;
    },
    finish() {
      if (!answer.failed()) {
        if (filled > 0) connection.sendCopyFromChunk(buffer.subarray(0, filled));
        connection.endCopyFrom();
      }
      return answer.rows;
    },
    async abandon() {
      if (!answer.failed()) connection.sendCopyFail('abandoned');
      await answer.rows.catch(() => {});
    },
  };
}

interface CopyHandlers {
  readonly handlers: Submittable;
  readonly rows: Promise<number>;
  readonly fail: (error: unknown) => void;
  readonly failed: () => boolean;
}

/** What every copy does with the server's other answers. */
function createCopyHandlers({ signal, drop, toError }: CopyTransport): CopyHandlers {
  let count = 0;
  let failed = false;
  let settle = (_rows: number) => {};
  let refuse = (_error: unknown) => {};
  const rows = new Promise<number>((resolve, reject) => {
    settle = resolve;
    refuse = reject;
  });
  // Whoever waits for the rows hears it; nobody may be waiting yet.
  rows.catch(() => {});
  const stop = () => {
    fail(new DOMException('no longer wanted', 'AbortError'));
    drop();
  };
  const end = () => signal?.removeEventListener('abort', stop);
  const fail = (error: unknown) => {
    failed = true;
    end();
    refuse(toError(error));
  };
  signal?.addEventListener('abort', stop);
  if (signal?.aborted === true) stop();
  return {
    rows,
    fail,
    failed: () => failed,
    handlers: {
      submit() {},
      handleRowDescription() {},
      handleDataRow() {},
      handleCopyInResponse() {},
      handleCopyData() {},
      handleCommandComplete: ({ text }) => {
        count = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? 0);
      },
      handleReadyForQuery() {
        end();
        settle(count);
      },
      handleError: fail,
      callback() {},
    },
  };
}
