import { clientSideDatabaseErrorCodes, DatabaseConnectError, DatabaseError } from '../platform/connect-error.ts';

/** Time limits in milliseconds, by the clock of this machine. */
export const sharedStoreTimeLimits = { connectMs: 3_000, statementMs: 5_000 } as const;

export interface ReconnectingCallConnector<T> {
  readonly connect: (limit: number) => Promise<T>;
  readonly end: (session: T) => void | Promise<void>;
}

export interface ReconnectingCall<T> {
  /**
   * Runs one operation on the open session. If the session was lost, or the server is read-only or starting, the operation is
   * repeated once on a new one: a failover or a restart ends sessions that the program still has open. An operation must allow
   * a repetition. Throws DatabaseConnectError or DatabaseError.
   */
  run<R>(operation: (session: T) => Promise<R>): Promise<R>;
  close(): Promise<void>;
}

/** Opens a database session for the first operation. Operations use the session one after the other. */
export function createReconnectingCall<T>({ connect, end }: ReconnectingCallConnector<T>): ReconnectingCall<T> {
  let session: T | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  const drop = async (): Promise<void> => {
    const open = session;
    session = undefined;
    if (open !== undefined) await end(open);
  };
  /** Connects once more after a timeout, because a busy machine or server may need longer than the time limit. */
  const connectTwice = async (): Promise<T> => {
    try {
      return await connect(sharedStoreTimeLimits.connectMs);
    } catch (error) {
      if (!(error instanceof DatabaseConnectError) || error.code !== clientSideDatabaseErrorCodes.timeout) throw error;
      return connect(sharedStoreTimeLimits.connectMs);
    }
  };
  const attempt = async <R>(operation: (session: T) => Promise<R>): Promise<R> => {
    session ??= await connectTwice();
    try {
      return await operation(session);
    } catch (error) {
      // After an error the session may be inside a failed transaction.
      await drop();
      throw error;
    }
  };
  const runOnce = async <R>(operation: (session: T) => Promise<R>): Promise<R> => {
    const wasOpen = session !== undefined;
    try {
      return await attempt(operation);
    } catch (error) {
      if (!isRepeatable(error, wasOpen)) throw error;
      return attempt(operation).catch((second: unknown) => {
        throw mayBeApplied(error) ? markAsLost(second) : second;
      });
    }
  };
  return {
    run<R>(operation: (session: T) => Promise<R>): Promise<R> {
      const result = queue.then(() => runOnce(operation));
      queue = result.catch(() => undefined);
      return result;
    },
    async close() {
      await queue;
      await drop();
    },
  };
}

/**
 * A call is repeated only if its database session was open before. If a new database session is lost at once, the next one
 * would be lost too.
 */
function isRepeatable(error: unknown, wasOpen: boolean): boolean {
  if (error instanceof DatabaseConnectError) return false;
  if (!(error instanceof DatabaseError)) return false;
  return wasOpen && (error.lost || failoverCodes.has(error.code));
}

/** Whether the server may have applied the operation before the error: a connection that was cut, or a server that stops. */
function mayBeApplied(error: unknown): boolean {
  return error instanceof DatabaseError && (error.lost || error.code.startsWith('57P'));
}

/** The error of a repetition says nothing about the first attempt, so it must not count as the rejection of the operation. */
function markAsLost(error: unknown): unknown {
  return error instanceof DatabaseError && !error.lost ? new DatabaseError(error.code, error.message, true) : error;
}

/** Error codes of servers that are no longer the primary (25006, 0A000, READONLY), or that stop or start. */
const failoverCodes: ReadonlySet<string> = new Set([
  '25006',
  '0A000',
  '57P01',
  '57P02',
  '57P03',
  'READONLY',
  'LOADING',
]);
