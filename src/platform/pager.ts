import { startChild } from './external-program.ts';
import type { ProcessEnvironment, RunningPager } from './host.ts';

/**
 * Starts the command of PAGER through the shell, as git does: it may have options and variables. The pager writes to
 * the terminal of this process.
 */
export function startPager(
  command: string,
  env: ProcessEnvironment,
  platform: NodeJS.Platform = process.platform,
): RunningPager {
  const child = startChild(command, [], {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    windowsHide: false,
    env,
    // The defaults of git: less ends when everything fits the screen, shows colours, and leaves the text on the screen.
    given: { LESS: env.LESS ?? 'FRX', LV: env.LV ?? '-c' },
  });
  let isOpen = true;
  const ended = new Promise<number | undefined>((resolve) => {
    child.once('error', () => resolve(notExecuted));
    child.once('close', (status) => resolve(status ?? undefined));
  }).finally(() => {
    isOpen = false;
  });
  // A pager that ends before it has read everything closes the pipe.
  child.stdin?.on('error', () => {
    isOpen = false;
  });
  return {
    write: (data) =>
      new Promise((resolve) => {
        if (!isOpen || child.stdin === null) return resolve();
        // Also resolves when the pager ends, because a pager that has ended never accepts the remaining data.
        void ended.then(() => resolve());
        child.stdin.write(data, () => resolve());
      }),
    async end() {
      if (isOpen) child.stdin?.end();
      const status = await ended;
      const failed = platform === 'win32' ? windowsNotFound : [notFound, notExecuted];
      return { hasRun: status === undefined || !failed.includes(status) };
    },
    stop: () => void child.kill(),
  };
}

/** The exit codes of a shell that did not find, or could not execute, the command (POSIX.1-2017, XCU 2.8.2). */
const notFound = 127;
const notExecuted = 126;
/**
 * Exit codes of cmd.exe for a missing command: 1, or 9009 in a script. A pager that has run can also end with 1; its text
 * is then printed again, because a text that is shown twice is better than a text that is not shown.
 */
const windowsNotFound: readonly number[] = [1, 9009, notExecuted];
