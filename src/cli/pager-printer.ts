import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { HostSystem, OutputSink, SignalName } from '../platform/host.ts';
import { interruptedError } from '../platform/signals.ts';

/** Prints one document: through a pager when it is longer than the screen. */
export type PagerPrinter = (print: (sink: OutputSink) => Promise<void>) => Promise<void>;

interface PagerPrinterOptions {
  readonly host: Pick<HostSystem, 'env' | 'platform' | 'signals' | 'startPager'>;
  readonly stdout: OutputSink;
  /** `--no-pager` was given. */
  readonly noPager: boolean;
  /** Called before the pager takes the terminal. */
  readonly before?: () => Promise<void>;
}

/** Starts the pager only if the output is a terminal; a program that reads the output receives the text unchanged. */
export function createPager({ host, stdout, noPager, before }: PagerPrinterOptions): PagerPrinter {
  const command = noPager || !stdout.isTTY || stdout.rows === undefined ? undefined : pagerCommand(host);
  if (command === undefined) return (print) => print(stdout);
  return async (print) => {
    const held: (string | Uint8Array)[] = [];
    const rows = createRowCounter(stdout);
    let pager: PagerSession | undefined;
    const sink: OutputSink = {
      ...screenOf(stdout),
      async write(data) {
        held.push(data);
        if (pager !== undefined) return pager.write(data);
        // One row is left for the prompt of the shell.
        if (!rows.exceed(data, (stdout.rows ?? 24) - 1)) return;
        await before?.();
        pager = startPagerSession(host, command);
        for (const text of held) await pager.write(text);
      },
    };
    try {
      await print(sink);
    } finally {
      const isShown = (await pager?.end()) ?? false;
      if (!isShown) for (const data of held) await stdout.write(data);
    }
  };
}

/** The properties of the terminal that a table needs, with their values at the time of the call. */
function screenOf(stdout: OutputSink): Pick<OutputSink, 'isTTY' | 'columns' | 'rows'> {
  return { isTTY: stdout.isTTY, columns: stdout.columns, rows: stdout.rows };
}

/** The pager command: PAGER if set, otherwise `less` if installed. Undefined when PAGER is empty or `cat`. */
function pagerCommand({ env, platform }: Pick<HostSystem, 'env' | 'platform'>): string | undefined {
  if (env.TERM === 'dumb') return undefined;
  const command = env.PAGER?.trim() ?? (platform !== 'win32' && isInstalled('less', env.PATH) ? 'less' : '');
  return command === '' || command === 'cat' ? undefined : command;
}

function isInstalled(program: string, path = ''): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

interface PagerSession {
  write(data: string | Uint8Array): Promise<void>;
  /** Waits until the pager has ended; resolves with false when the command does not exist. */
  end(): Promise<boolean>;
}

/**
 * Starts the pager. While the pager runs, Ctrl-C does not end this process: the pager would lose the terminal if this
 * process ended first.
 */
function startPagerSession({ startPager, signals }: PagerPrinterOptions['host'], command: string): PagerSession {
  let ending: SignalName | undefined;
  const pager = startPager(command);
  const stopListening = signals.listen((signal) => {
    if (signal === 'SIGINT') return;
    ending ??= signal;
    pager.stop();
  });
  return {
    write: (data) => pager.write(withoutLinks(data)),
    async end() {
      const { hasRun } = await pager.end();
      stopListening();
      if (ending !== undefined) throw interruptedError(ending);
      return hasRun;
    },
  };
}

/** The start and the end of a hyperlink (OSC 8), which older pagers print as text. */
const links = /\u001b\]8;;[^\u001b]*\u001b\\/g;
const styles = /\u001b\[[\d;]*m/g;

function withoutLinks(data: string | Uint8Array): string | Uint8Array {
  return typeof data === 'string' ? data.replace(links, '') : data;
}

/** Counts the terminal rows of the text. Counting ends when the text has too many rows for the screen. */
function createRowCounter({ columns = 80 }: OutputSink): { exceed(data: string | Uint8Array, most: number): boolean } {
  let rows = 0;
  return {
    exceed(data, most) {
      const text = (typeof data === 'string' ? data : Buffer.from(data).toString('utf8')).replace(/\n$/, '');
      for (const line of text.split('\n')) {
        const length = line.replace(links, '').replace(styles, '').length;
        rows += Math.max(1, Math.ceil(length / columns));
        if (rows > most) return true;
      }
      return false;
    },
  };
}
