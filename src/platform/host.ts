import type { Readable, Writable } from 'node:stream';
import type { HttpSender } from './http-sender.ts';

/** The machine as the program sees it. A test swaps a part of it; the rest is the real graph. */
export interface Host {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** The raw stream behind `stderr`: prompts draw on it. */
  readonly screen: Writable & { readonly isTTY?: boolean };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly clock: Clock;
  /** Cryptographic chance: so many random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly folders: Folders;
  /** Names this start of the machine, if all that is written to a file of the folder is there until the next one. */
  readonly bootId: (folder: string) => Promise<string | undefined>;
  /** Made on first use: the HTTP client costs 55 ms to load. `trace` hears one redacted line a request. */
  readonly createSender: (options: HttpSenderOptions) => Promise<HttpSender>;
  readonly browser: Browser;
  readonly keychain: Keychain;
  readonly signals: Signals;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Sink {
  /**
   * Resolves once the text, or its UTF-8, was taken. A closed pipe is no failure: the rest is dropped, and the program ends quietly
   * as soon as nobody listens for signals. Standard output alone rejects, with a CliError, when data is lost for
   * another reason (a full disk).
   */
  write(data: string | Uint8Array): Promise<void>;
  readonly isTTY: boolean;
  /** Columns of the terminal; undefined when it is none. */
  readonly columns: number | undefined;
  /** Rows of the terminal; undefined when it is none, or not known. */
  readonly rows?: number | undefined;
  /** Calls back when the terminal has another size, until the returned function is called. */
  readonly onResize?: (listener: () => void) => () => void;
  /** Aborted when the reader has closed the pipe: who listens for signals ends his work on it as well. */
  readonly closed?: AbortSignal;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Folders {
  /** Holds config.json. */
  readonly config: string;
  /** Holds locks, write-ahead files, ledgers, baselines, the file store. */
  readonly state: string;
}

export interface HttpSenderOptions {
  readonly env: Environment;
  /** A fresh connection that is destroyed after the request (refresh.md step 7). */
  readonly fresh?: boolean;
  readonly trace?: ((line: string) => void) | undefined;
}

export interface Browser {
  /** Starts the opener; false when there is none. The opener's own outcome is never known. */
  open(url: string): Promise<boolean>;
}

export interface Keychain {
  /** One helper process for a few operations; nothing is started before the first of them. */
  open(options: KeychainOptions): KeychainSession;
}

export interface KeychainOptions {
  /** Milliseconds an operation may take before its helper is killed. */
  readonly timeoutMs: number;
  /** Called once when an operation has been waiting for a second. */
  readonly onWaiting?: () => void;
  /**
   * The descriptor of a lock that excludes other writers. The helper inherits it: when this process is killed, a write
   * that still lands does so under the lock.
   */
  readonly lockDescriptor?: number | undefined;
}

export interface KeychainSession {
  read(account: string): Promise<KeychainFound | KeychainAbsent | KeychainUnavailable>;
  /** What is stored decides: `done` means the item was read back equal. */
  write(account: string, value: string): Promise<KeychainDone | KeychainUnavailable>;
  /** An item that was not there is `done` as well. */
  remove(account: string): Promise<KeychainDone | KeychainUnavailable>;
  /** Ends the helper and waits for its end. */
  close(): Promise<void>;
}

export interface KeychainFound {
  readonly kind: 'found';
  readonly value: string;
}
export interface KeychainAbsent {
  readonly kind: 'absent';
}
export interface KeychainDone {
  readonly kind: 'done';
}
export interface KeychainUnavailable {
  readonly kind: 'unavailable';
  /** locked: an unlock prompt was dismissed or cannot be shown; missing: no service; hung: no answer within the limit. */
  readonly why: 'locked' | 'missing' | 'hung' | 'failed';
  /** The operating system's own words, cleaned. */
  readonly reason: string;
}

export interface Signals {
  /** Calls back on SIGINT, SIGTERM and SIGHUP until the returned function is called. */
  listen(onSignal: (signal: SignalName) => void): () => void;
}

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
