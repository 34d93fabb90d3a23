import { CliError } from '../base/errors.ts';
import type { Signals } from './host.ts';

/** Runs `work` to its end even if a signal arrives, then ends the command with the exit code of that signal (130 or 143). */
export async function deferSignals<T>(signals: Signals, work: () => Promise<T>): Promise<T> {
  let caught: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
  const stop = signals.listen((signal) => {
    caught ??= signal;
  });
  const [outcome] = await Promise.allSettled([work()]);
  await waitForEventLoop();
  stop();
  // If a signal arrived, the command ends as interrupted, even if the work succeeded.
  if (caught !== undefined) throw interruptedError(caught);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

export function interruptedError(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): CliError {
  return signal === 'SIGTERM'
    ? new CliError('cancelled', 'terminated', { exitCode: 143 })
    : new CliError('cancelled', signal === 'SIGINT' ? 'interrupted' : 'the terminal was closed');
}

/**
 * Waits one turn of the event loop: a signal that arrived while the work blocked the thread is delivered only then, and would
 * be lost after the last listener is removed.
 */
async function waitForEventLoop(): Promise<void> {
  // The first setImmediate callback runs before the event loop checks for signals, the second one after it.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
