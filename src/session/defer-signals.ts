import { CliError } from '../errors.ts';
import type { Signals } from '../platform/host.ts';

/** Runs `work` to its end although a signal comes, then ends the command the way the signal asked for (130, 143). */
export async function deferSignals<T>(signals: Signals, work: () => Promise<T>): Promise<T> {
  let caught: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | undefined;
  const stop = signals.listen((signal) => {
    caught ??= signal;
  });
  const [outcome] = await Promise.allSettled([work()]);
  stop();
  // However the work ended, the person has asked for another end.
  if (caught !== undefined) throw interrupted(caught);
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

export function interrupted(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): CliError {
  return signal === 'SIGTERM'
    ? new CliError('cancelled', 'terminated', { exitCode: 143 })
    : new CliError('cancelled', signal === 'SIGINT' ? 'interrupted' : 'the terminal was closed');
}
