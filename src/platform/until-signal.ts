import { CliError } from '../errors.ts';
import { interruptedError } from './defer-signals.ts';
import type { SignalName, Signals } from './host.ts';

/** Runs work that a signal of the system ends. Whatever became of it then, the command ends as the signal asks (130, 143), with these words. */
export async function untilSignal<T>(
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
