import { clientSideDatabaseErrorCodes, DatabaseConnectError } from './connect-error.ts';
import { limitHeapGrowth } from './v8-flags.ts';

/** Limits the memory that the responses of one or several database sessions use. */
export interface DatabaseResponseMemoryLimit {
  /** Starts to count the memory of one session. */
  open(): ResponseMemoryUse;
}

interface ResponseMemoryUse {
  /** Adds a number of bytes to the memory in use. Throws a ConnectError when the memory limit is exceeded. */
  add(bytes: number): void;
  nextStatement(): void;
  close(): void;
}

/**
 * The memory limit in bytes for all sessions together. The responses for a database of 100,000 tables need half of this memory
 * limit, and the program's own data about the same amount.
 */
const maxMemory = 64 * 2 ** 20;

/**
 * @param kept how long the caller keeps a response: until the next `statement` of its session, until the `session` ends, or
 * `always`
 */
export function createDatabaseResponseMemoryLimit(
  kept: 'statement' | 'session' | 'always',
): DatabaseResponseMemoryLimit {
  let total = 0;
  return {
    open() {
      // A refused response is garbage that must be collected before the memory of the next response is added.
      limitHeapGrowth();
      let own = 0;
      const release = () => {
        total -= own;
        own = 0;
      };
      return {
        add(bytes) {
          own += bytes;
          total += bytes;
          if (own > maxMemory)
            throw tooLarge(clientSideDatabaseErrorCodes.protocol, 'the response is larger than 64 MiB');
          if (total > maxMemory) {
            throw tooLarge(clientSideDatabaseErrorCodes.memory, 'the responses of all sessions are larger than 64 MiB');
          }
        },
        nextStatement() {
          if (kept === 'statement') release();
        },
        close() {
          if (kept !== 'always') release();
        },
      };
    },
  };
}

function tooLarge(code: string, message: string): DatabaseConnectError {
  return new DatabaseConnectError('startup', code, message);
}
