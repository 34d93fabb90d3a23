import type { CopyDelivery } from './message-reader.ts';
import type { Client } from './pg.ts';
import type { QueryError } from './query-error.ts';
import type { SafeSql } from './search-path-safe-sql.ts';
import { type CopyHandler, sendStatement } from './statement.ts';

/**
 * Passes the rows that the server sends in a COPY to `take`, one by one. While a promise returned by `take` is pending,
 * no more rows are read. The bytes of a row are valid only until `take` returns. Resolves with the number of rows.
 * @param messages `rows` (default): a row of more than 16 MiB is an error; `parts`: a large row is passed in parts
 * @param ended called after the rows of each COPY of the text, because a text may contain several
 */
export type CopyOut<Text extends string> = (
  text: Text,
  take: TakeCopyData,
  messages?: CopyDelivery,
  ended?: () => void,
) => Promise<number>;

type TakeCopyData = (bytes: Uint8Array) => Promise<void> | undefined;

export interface CopySink {
  /**
   * Sends rows to the server; the caller may reuse the buffer at once. If a promise is returned, the server is slower than
   * the caller, who must await the promise before the next write.
   */
  write(bytes: Uint8Array): Promise<void> | undefined;
  /** Ends the COPY. Resolves with the number of rows that the server stored. */
  finish(): Promise<number>;
  /** Cancels the COPY, so that the server stores none of its rows. */
  abandon(): Promise<void>;
}

/** The parts of a session that a COPY uses. */
interface CopySession {
  readonly signal: AbortSignal | undefined;
  readonly drop: () => void;
  readonly toError: (error: unknown) => QueryError;
}

export async function receiveCopy(
  client: Client,
  transport: CopySession,
  text: SafeSql,
  take: TakeCopyData,
  ended?: () => void,
): Promise<number> {
  const copy = createCopyHandlers(transport, ended);
  await sendStatement(client, text, {
    ...copy.handlers,
    handleCopyData({ chunk }, { stream }) {
      const wait = take(chunk);
      if (wait === undefined) return;
      stream.pause();
      wait.then(
        () => stream.resume(),
        (error: unknown) => {
          // The connection is destroyed, because the server would continue to send the rest of the table.
          copy.fail(error);
          transport.drop();
        },
      );
    },
  });
  return copy.rows;
}

/**
 * Bytes of rows that are sent in one message, because one message for each row would cost one system call for each row.
 */
const chunkSize = 65_536;

export async function startCopy(client: Client, transport: CopySession, text: SafeSql): Promise<CopySink> {
  const copy = createCopyHandlers(transport);
  const buffer = Buffer.allocUnsafe(chunkSize);
  let filled = 0;
  const { connection } = client;
  const flush = (bytes: Uint8Array): Promise<void> | undefined => {
    connection.sendCopyFromChunk(bytes);
    if (!connection.stream.writableNeedDrain) return undefined;
    return Promise.race([
      new Promise<void>((resolve) => connection.stream.once('drain', resolve)),
      copy.rows.then(() => {}),
    ]);
  };
  await new Promise<void>((resolve, reject) => {
    // If the server ends the statement without a request for rows, for example because the statement is no COPY, no
    // COPY begins.
    copy.rows.then(() => reject(transport.toError(new Error('the server did not begin the COPY'))), reject);
    sendStatement(client, text, { ...copy.handlers, handleCopyInResponse: () => resolve() }).catch(reject);
  });
  return {
    write(bytes) {
      if (copy.failed()) return copy.rows.then(() => {});
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
      if (!copy.failed()) {
        if (filled > 0) connection.sendCopyFromChunk(buffer.subarray(0, filled));
        connection.endCopyFrom();
      }
      return copy.rows;
    },
    async abandon() {
      if (!copy.failed()) connection.sendCopyFail('abandoned');
      await copy.rows.catch(() => {});
    },
  };
}

interface CopyHandlers {
  readonly handlers: CopyHandler;
  readonly rows: Promise<number>;
  readonly fail: (error: unknown) => void;
  readonly failed: () => boolean;
}

/** Handles the messages that occur both in COPY TO STDOUT and in COPY FROM STDIN. */
function createCopyHandlers({ signal, drop, toError }: CopySession, ended = () => {}): CopyHandlers {
  let count = 0;
  let failed = false;
  let settle = (_rows: number) => {};
  let refuse = (_error: unknown) => {};
  const rows = new Promise<number>((resolve, reject) => {
    settle = resolve;
    refuse = reject;
  });
  // The rejection is handled here, because the caller may not await the rows yet, and an unhandled rejection would end
  // the process.
  rows.catch(() => {});
  const stop = () => {
    fail(new DOMException('the operation was aborted', 'AbortError'));
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
      handleRowDescription() {},
      handleDataRow() {},
      handleCopyInResponse() {},
      handleCopyData() {},
      handleCommandComplete: ({ text }) => {
        // The server also reports the completion of statements around the COPY, such as COMMIT.
        const rows = /^COPY (\d+)$/.exec(text)?.[1];
        if (rows === undefined) return;
        count = Number(rows);
        ended();
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
