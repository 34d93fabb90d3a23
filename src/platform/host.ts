import type { Readable, Writable } from 'node:stream';
import type { HttpSender } from './http-sender.ts';

/** The interfaces to the machine. A test replaces some of them; the rest is real. */
export interface Host {
  readonly env: Environment;
  readonly platform: NodeJS.Platform;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** The stream behind `stderr`, for prompts. */
  readonly screen: Writable & { readonly isTTY?: boolean };
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  readonly clock: Clock;
  /** Cryptographically secure random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly folders: Folders;
  /** The boot ID, if the file system of the folder keeps all written data until the next boot; else undefined. */
  readonly bootId: (folder: string) => Promise<string | undefined>;
  /** Created on first use, because the HTTP client takes 55 ms to load. `trace` gets one redacted line for each request. */
  readonly createSender: (options: HttpSenderOptions) => Promise<HttpSender>;
  readonly browser: Browser;
  /** Starts a pager, which shows long text on the terminal. */
  readonly startPager: (command: string) => RunningPager;
  readonly keychain: Keychain;
  readonly signals: Signals;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface OutputSink {
  /**
   * Resolves when the text, or its UTF-8, was written. A closed pipe is not an error: the rest is discarded, and the program
   * ends when no signal listener is left. Standard output rejects with a CliError when data is lost for another reason (a
   * full disk).
   */
  write(data: string | Uint8Array): Promise<void>;
  readonly isTTY: boolean;
  /** Columns of the terminal; undefined without a terminal. */
  readonly columns: number | undefined;
  /** Rows of the terminal; undefined without a terminal, or when not known. */
  readonly rows?: number | undefined;
  /** Calls `listener` when the size of the terminal changes, until the returned function is called. */
  readonly onResize?: (listener: () => void) => () => void;
  /** Aborted when the reader has closed the pipe: work that listens for signals ends then as well. */
  readonly closed?: AbortSignal;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Folders {
  /** Contains config.json. */
  readonly config: string;
  /** Contains locks, write-ahead files, ledgers, baselines and the file store. */
  readonly state: string;
}

export interface HttpSenderOptions {
  readonly env: Environment;
  /** A new connection for each request, closed afterwards (docs/sessions.md, step 7). */
  readonly fresh?: boolean;
  readonly trace?: ((line: string) => void) | undefined;
}

export interface Browser {
  /** Starts the opener; false when there is none. Whether the browser opened is not known. */
  open(url: string): Promise<boolean>;
}

export interface Keychain {
  /** Opens a session with one helper process, which is started by the first operation. */
  open(options: KeychainOptions): KeychainSession;
}

export interface RunningPager {
  /** Resolves when the pager has accepted the data, or has ended. */
  write(data: string | Uint8Array): Promise<void>;
  /** Closes its input and waits until the person has closed it. `hasRun` is false when there is no such program. */
  end(): Promise<{ readonly hasRun: boolean }>;
  /** Ends it because this process ends. */
  stop(): void;
}

export interface KeychainOptions {
  /** Milliseconds for one operation; afterwards its helper is killed. */
  readonly timeoutMs: number;
  /** Called once when an operation has waited for 1 s. */
  readonly onWaiting?: () => void;
  /**
   * The descriptor of a lock that excludes other writers. The helper inherits it, so that a write that continues after this
   * process was killed is still under the lock.
   */
  readonly lockDescriptor?: number | undefined;
}

export interface KeychainSession {
  read(account: string): Promise<KeychainFound | KeychainAbsent | KeychainUnavailable>;
  /** `done` means that the item was read back and is equal. */
  write(account: string, value: string): Promise<KeychainDone | KeychainUnavailable>;
  /** A missing item is `done` as well. */
  remove(account: string): Promise<KeychainDone | KeychainUnavailable>;
  /** Ends the helper process and waits for its end. */
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
  /** locked: an unlock prompt was dismissed or cannot be shown; missing: no service; hung: no reply within the limit. */
  readonly why: 'locked' | 'missing' | 'hung' | 'failed';
  /** The message of the operating system, sanitized. */
  readonly reason: string;
}

export interface Signals {
  /** Calls `onSignal` for SIGINT, SIGTERM and SIGHUP until the returned function is called. */
  listen(onSignal: (signal: SignalName) => void): () => void;
}

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';
