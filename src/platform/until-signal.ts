import { CliError } from '../base/errors.ts';
import { interruptedError } from './defer-signals.ts';
import type { SignalName, Signals } from './host.ts';

/**
 * Runs asynchronous work until it ends or the process receives a signal. After a signal the result of the work is ignored: the
 * command fails with `message` and the exit code of the signal (130 or 143).
 */
export async function runUntilSignal<T>(
  signals: Signals,
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  let heard: SignalName | undefined;
  const stop = signals.listen((name) => {
    heard ??= name;
    end.abort();
  });
  const [outcome] = await Promise.allSettled([work(end.signal)]);
  stop();
  if (heard !== undefined) throw new CliError('cancelled', message, { exitCode: interruptedError(heard).exitCode });
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}
