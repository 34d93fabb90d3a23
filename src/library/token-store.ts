import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileJournal } from '../auth/session/core.ts';
import { CliError } from '../base/errors.ts';
import { ensureFolder, removeDurably } from '../platform/files.ts';
import { helperKeychain } from '../platform/helper-keychain.ts';
import type { KeychainUnavailable } from '../platform/host.ts';
import { acquireLock, type HeldLock } from '../platform/locks.ts';
import { requireOwnPath } from '../platform/own-folder.ts';
import { readSecretFile, writeSecretFile } from '../platform/secret-file.ts';
import { systemClock } from '../platform/waiting.ts';

/**
 * Where `withFreshToken` keeps one session. A custom store implements this interface. Its methods and those of its journal
 * are called with the lock held, except for the first `read` of the store and of the journal in a call.
 */
export interface TokenStore {
  /** Runs `work` exclusively: no other process and no other call for this session runs its work at the same time. */
  withLock<T>(work: () => Promise<T>): Promise<T>;
  /** The stored text; undefined when there is no session. Rejects when the store cannot be read. */
  read(): Promise<string | undefined>;
  /** Replaces the text. Resolves when the new text is durable. The text contains tokens. */
  write(text: string): Promise<void>;
  /** Removes the session; a missing session is not an error. */
  remove(): Promise<void>;
  readonly journal: TokenJournal;
}

/**
 * The write-ahead journal of a store: it keeps a refreshed grant from the moment of its arrival until the store has it.
 * The journal is encrypted with a key that only the store has.
 */
export interface TokenJournal {
  /** The content of the journal; undefined when there is no journal. */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Replaces the content by `head` and `room` zeros, before the request is sent. Resolves when the new content is
   * durable; if the process is killed before, the journal has either the old or the new content. `head` is not always
   * text: it includes the entry of an earlier grant that the store could not take. The result is a function that replaces
   * the zeros by the grant, and that resolves when the grant is durable. Rejects when there is no space; the request is
   * then not sent.
   */
  begin(head: Uint8Array, room: number): Promise<GrantWriter>;
  /** Removes the journal; also called when no grant was written to the journal. */
  remove(): Promise<void>;
}

export interface GrantWriter {
  (grant: Uint8Array): Promise<void>;
  /**
   * Whether this entry has replaced one that another process had begun: either that process was killed, or the file system does
   * not share locks (network file systems). Absent: no.
   */
  readonly hasReplaced?: boolean;
  /** Whether another process has replaced or removed this entry, on a file system that does not share locks. Absent: never. */
  isReplaced?(): boolean;
  /** Called once, when the refresh has ended. */
  close?(): void;
}

/** A store that cannot be used. `code` says why. */
export class TokenStoreError extends Error {
  override readonly name = 'TokenStoreError';
  /**
   * `busy`: another process holds the lock; `locked`, `missing`, `unresponsive` and `failed`: states of the keychain;
   * `failed` also: other users can write to the folder; `too_long`: the tokens do not fit into an item of the keychain.
   */
  readonly code: 'busy' | 'locked' | 'missing' | 'unresponsive' | 'failed' | 'too_long';

  constructor(code: TokenStoreError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
  }
}

/** Keeps the session in the memory of this process. */
export function createMemoryTokenStore(): TokenStore {
  let text: string | undefined;
  let journal: Uint8Array | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    withLock: (work) => {
      const result = last.then(work);
      last = result.catch(() => undefined);
      return result;
    },
    read: async () => text,
    write: async (value) => {
      text = value;
    },
    remove: async () => {
      text = undefined;
    },
    journal: {
      read: async () => journal,
      begin: async (head, room) => {
        journal = Buffer.concat([head, Buffer.alloc(room)]);
        return async (grant) => {
          journal = Buffer.concat([head, grant]);
        };
      },
      remove: async () => {
        journal = undefined;
      },
    },
  };
}

/**
 * Keeps the session in a file of mode 0600. A file that is a symbolic link, belongs to another user or can be read by others is
 * refused, and so is a folder in which others can replace it. The lock and the journal are files beside it (`PATH.lock`,
 * `PATH.journal`).
 */
export function createFileTokenStore(path: string): TokenStore {
  return {
    withLock: (work) => withFileLock(`${path}.lock`, work),
    read: async () => {
      requireOwn(dirname(path));
      return readSecretFile(path)?.trimEnd();
    },
    write: async (text) => writeSecretFile(path, `${text}\n`),
    remove: async () => removeDurably(path),
    journal: createFileJournal(`${path}.journal`),
  };
}

export interface KeychainTokenStoreOptions {
  /** The name of your program, under which the keychain lists the item. */
  readonly service: string;
  /** Distinguishes the sessions of one program, for example by the name of the account. */
  readonly account: string;
  /** Existing or new folder for the lock and the encrypted journal; only the user may write to it. */
  readonly folder: string;
  /**
   * Time limit of one keychain operation in milliseconds, which includes the time to unlock the keychain (default: 60 s).
   */
  readonly timeoutMs?: number;
}

/** Keeps the session in the keychain of the operating system: Keychain, Credential Manager, or the Secret Service. */
export function createKeychainTokenStore(options: KeychainTokenStoreOptions): TokenStore {
  const { service, account, folder, timeoutMs = 60_000 } = options;
  const keychain = helperKeychain({ env: process.env, service, script: keychainHelper });
  const file = join(folder, encodeURIComponent(`${service}#${account}`));
  let held: HeldLock | undefined;
  const withItem = async <T>(work: (item: ReturnType<typeof keychain.open>) => Promise<T | KeychainUnavailable>) => {
    const session = keychain.open({ timeoutMs, lockDescriptor: held?.descriptor });
    try {
      const result = await work(session);
      if (isUnavailable(result)) throw keychainError(result);
      return result;
    } finally {
      await session.close();
    }
  };
  return {
    withLock: (work) =>
      withFileLock(`${file}.lock`, async (lock) => {
        held = lock;
        try {
          return await work();
        } finally {
          held = undefined;
        }
      }),
    read: () =>
      withItem(async (item) => {
        const found = await item.read(account);
        if (found.kind === 'unavailable') return found;
        return found.kind === 'found' ? found.value : undefined;
      }),
    write: async (text) => {
      if (text.length > maxItemLength)
        throw new TokenStoreError(
          'too_long',
          `the session has ${text.length} characters; the keychain takes ${maxItemLength}`,
        );
      await withItem((item) => item.write(account, text));
    },
    remove: async () => {
      await withItem((item) => item.remove(account));
    },
    journal: createFileJournal(`${file}.journal`),
  };
}

/** The keychain helper program of this npm package; the modules of this library are in dist/library. */
const keychainHelper = fileURLToPath(new URL('../keychain.cjs', import.meta.url));

/** Windows stores at most 2560 bytes in one item of the Credential Manager. */
const maxItemLength = 1280;

function isUnavailable<T>(result: T | KeychainUnavailable): result is KeychainUnavailable {
  return typeof result === 'object' && result !== null && 'kind' in result && result.kind === 'unavailable';
}

function keychainError({ why, reason }: KeychainUnavailable): TokenStoreError {
  return new TokenStoreError(why === 'hung' ? 'unresponsive' : why, `could not use the keychain: ${reason}`);
}

function requireOwn(folder: string): void {
  try {
    requireOwnPath(folder);
  } catch (error) {
    if (error instanceof CliError) throw new TokenStoreError('failed', error.message, error);
    throw error;
  }
}

async function withFileLock<T>(path: string, work: (lock: HeldLock) => Promise<T>): Promise<T> {
  requireOwn(dirname(path));
  ensureFolder(dirname(path));
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes));
  const lock = await acquireLock(path, { waitMs: lockWaitMs, clock: systemClock, random }).catch((error: unknown) => {
    if (error instanceof CliError) throw new TokenStoreError('busy', error.message, error);
    throw error;
  });
  try {
    return await work(lock);
  } finally {
    lock.release();
  }
}

/** Milliseconds to wait for the lock: longer than the time limit of one refresh. */
const lockWaitMs = 45_000;
