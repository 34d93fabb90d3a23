import type { Readable, Writable } from 'node:stream';
import { redactData, redactMessage } from '../base/redact.ts';
import { startWithholding } from '../base/secret.ts';
import type { HttpSender } from './http-sender.ts';

/** The interfaces to the operating system; tests replace some of them. */
export interface HostSystem {
  readonly env: ProcessEnvironment;
  readonly platform: NodeJS.Platform;
  /** The file that was started: the script, or the executable that contains it. */
  readonly program: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  /** The Node stream of `stderr`, on which prompts are drawn. */
  readonly screen: Writable & { readonly isTTY?: boolean };
  readonly stdout: OutputSink;
  readonly stderr: OutputSink;
  readonly clock: Clock;
  /** Returns cryptographically secure random bytes. */
  readonly random: (bytes: number) => Uint8Array;
  readonly folders: Folders;
  /**
   * The HTTP client is created on first use, because loading it takes 55 ms. `trace` is called with one line, without secrets,
   * for each request.
   */
  readonly createSender: (options: SenderOptions) => Promise<HttpSender>;
  readonly browser: BrowserLauncher;
  /** Starts a pager, which shows long text on the terminal. */
  readonly startPager: (command: string) => RunningPager;
  readonly keychain: Keychain;
  readonly signals: Signals;
}

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

export interface OutputSink {
  /**
   * Resolves when the text (encoded as UTF-8) or the bytes were written; where the sink redacts, it redacts text and never bytes. A
   * closed pipe is not an error: further data is discarded, and the program ends when it has no signal listener left. Standard
   * output rejects with a CliError when data is lost for a reason other than a closed pipe, such as a full disk.
   */
  write(data: string | Uint8Array): Promise<void>;
  readonly isTTY: boolean;
  /** The number of columns of the terminal; undefined without a terminal. */
  readonly columns: number | undefined;
  /** The number of rows of the terminal; undefined if the stream is not a terminal or the number is not known. */
  readonly rows?: number | undefined;
  /** Calls `listener` when the size of the terminal changes, until the returned function is called. */
  readonly onResize?: (listener: () => void) => () => void;
  /** Aborted when the reader of the output has closed the pipe, so that work that uses the signal ends too. */
  readonly closed?: AbortSignal;
}

export interface Clock {
  /** Returns the current time in milliseconds since the epoch. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Folders {
  /** Contains config.json. */
  readonly config: string;
  /** The state folder contains locks, write-ahead files, ledgers, baselines and the file store. */
  readonly state: string;
}

export interface SenderOptions {
  readonly env: ProcessEnvironment;
  /** Whether each request uses a new connection that is closed afterwards (docs/sessions.md, step 7). */
  readonly fresh?: boolean;
  readonly trace?: ((line: string) => void) | undefined;
}

/** Which connections and time limits the requests of a command have. */
export interface SendOptions extends Pick<SenderOptions, 'fresh'> {
  /** Whether a response may contain the only copy of tokens, so that `--timeout` does not end the request early. */
  readonly obtainsTokens?: boolean;
}

export interface BrowserLauncher {
  /**
   * Starts the command that opens URLs; resolves with false when the system has none, or when it failed at once. A command that
   * still runs counts as success. `onFailure` is called with a sentence that names what was tried, also when the command fails
   * later.
   */
  open(url: string, onFailure?: (failure: string) => void): Promise<boolean>;
}

export interface Keychain {
  /** Opens a keychain session with one helper process, which the first operation starts. */
  open(options: KeychainOptions): OpenedKeychain;
}

export interface RunningPager {
  /** Resolves when the pager has accepted the data, or has ended. */
  write(data: string | Uint8Array): Promise<void>;
  /**
   * Closes the input of the pager and waits until the user has quit it. `hasRun` is false when there is no such
   * program.
   */
  end(): Promise<{ readonly hasRun: boolean }>;
  /** Ends the pager because this process ends. */
  stop(): void;
}

export interface KeychainOptions {
  /** Time limit of one keychain operation in milliseconds, after which the helper process is killed. */
  readonly timeoutMs: number;
  /** Called once when a keychain operation has taken 1 s. */
  readonly onWaiting?: () => void;
  /**
   * The file descriptor of a lock that excludes other processes from writing. The helper process inherits the descriptor, so
   * that a write that continues after this process was killed is still protected by the lock.
   */
  readonly lockDescriptor?: number | undefined;
}

export interface OpenedKeychain {
  read(account: string): Promise<ItemFound | ItemAbsent | KeychainUnavailable>;
  /** The result `done` means that the item was read back and has the written value. */
  write(account: string, value: string): Promise<OperationDone | KeychainUnavailable>;
  /** Removing a missing item also has the result `done`. */
  remove(account: string): Promise<OperationDone | KeychainUnavailable>;
  /** Asks the helper process to exit and waits until it has exited. */
  close(): Promise<void>;
}

export interface ItemFound {
  readonly kind: 'found';
  readonly value: string;
}
export interface ItemAbsent {
  readonly kind: 'absent';
}
export interface OperationDone {
  readonly kind: 'done';
}
export interface KeychainUnavailable {
  readonly kind: 'unavailable';
  /**
   * Why the keychain is unavailable: `locked` (the unlock prompt was dismissed or cannot be shown), `missing` (no keychain
   * service), `hung` (no reply within the time limit).
   */
  readonly why: 'locked' | 'missing' | 'hung' | 'failed';
  /** The error message of the operating system, sanitized for the terminal. */
  readonly reason: string;
}

export interface Signals {
  /** Calls `onSignal` for SIGINT, SIGTERM and SIGHUP until the returned function is called. */
  listen(onSignal: (signal: SignalName) => void): () => void;
}

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/**
 * The host with outputs that remove the secrets of the run from every text. Bytes are written unchanged: a command that prints a
 * secret because the user asked for it writes bytes.
 */
export function redactOutput(host: HostSystem): HostSystem {
  startWithholding();
  return {
    // The streams are opened on first use.
    get stdin() {
      return host.stdin;
    },
    get screen() {
      return host.screen;
    },
    env: host.env,
    platform: host.platform,
    program: host.program,
    stdout: redactedSink(host.stdout, redactData),
    stderr: redactedSink(host.stderr, redactMessage),
    clock: host.clock,
    random: host.random,
    folders: host.folders,
    createSender: host.createSender,
    browser: host.browser,
    startPager: (command) => redactedPager(host.startPager(command)),
    keychain: host.keychain,
    signals: host.signals,
  };
}

function redactedSink(sink: OutputSink, redact: (text: string) => string): OutputSink {
  return {
    write: (data) => sink.write(typeof data === 'string' ? redact(data) : data),
    get isTTY() {
      return sink.isTTY;
    },
    get columns() {
      return sink.columns;
    },
    get rows() {
      return sink.rows;
    },
    ...(sink.onResize === undefined ? {} : { onResize: (listener) => sink.onResize?.(listener) ?? (() => {}) }),
    ...(sink.closed === undefined ? {} : { closed: sink.closed }),
  };
}

function redactedPager(pager: RunningPager): RunningPager {
  return {
    write: (data) => pager.write(typeof data === 'string' ? redactData(data) : data),
    end: () => pager.end(),
    stop: () => pager.stop(),
  };
}
