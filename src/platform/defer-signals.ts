import { CliError } from '../errors.ts';
import type { Signals } from './host.ts';

/** Runs `work` to its end although a signal comes, then ends the command the way the signal asked for (130, 143). */
export async function deferSignals<T>(signals: Signals, work: () => Promise<T>): Promise<T> {
  let caught: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
  const stop = signals.listen((signal) => {
    caught ??= signal;
  });
  const [outcome] = await Promise.allSettled([work()]);
  await waitForEventLoop();
  stop();
  // However the work ended, the person has asked for another end.
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
 * The event loop comes round once: a signal that came while the work did not let go of the thread is heard only then, and
 * would be lost with the last listener.
 */
async function waitForEventLoop(): Promise<void> {
  // The first is due before the loop looks at what has come, the second after.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}
