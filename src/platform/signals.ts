import { setMaxListeners } from 'node:events';
import { CliError } from '../base/errors.ts';
import type { OutputSink, SignalName, Signals } from './host.ts';

interface SystemSignals extends Signals {
  /** Calls `callback` when there is no signal listener: immediately, or when the last listener is removed. */
  whenNoListeners(callback: () => void): void;
}

/**
 * Delivers the signals of the operating system to listeners. The process catches signals only while it has a listener. On
 * Windows Ctrl-Break, which is also what a parent process can send, counts as Ctrl-C.
 */
export function systemSignals(platform: NodeJS.Platform = process.platform): SystemSignals {
  const caught: readonly NodeJS.Signals[] = platform === 'win32' ? [...names, 'SIGBREAK'] : names;
  const listeners = new Set<Listener>();
  const waiting: (() => void)[] = [];
  const forward = (signal: NodeJS.Signals) => {
    const name = signal === 'SIGBREAK' ? 'SIGINT' : signal;
    if (isSignalName(name)) for (const listener of [...listeners]) listener(name);
  };
  return {
    listen(onSignal) {
      // Each listener is wrapped in a new function, so that the same function can be added twice.
      const listener: Listener = (signal) => onSignal(signal);
      if (listeners.size === 0) for (const signal of caught) process.on(signal, forward);
      listeners.add(listener);
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        // After the last signal listener is removed, a signal ends the program as usual.
        for (const signal of caught) process.off(signal, forward);
        for (const callback of waiting.splice(0)) callback();
      };
    },
    whenNoListeners(callback) {
      if (listeners.size === 0) callback();
      else waiting.push(callback);
    },
  };
}

type Listener = (signal: SignalName) => void;

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function isSignalName(signal: string): signal is SignalName {
  return names.some((name) => name === signal);
}

/** Work that ends at the first signal. */
interface Stopping {
  /** Aborted by the signal, or when the reader of `stdout` has closed the pipe. */
  readonly signal: AbortSignal;
  /** The first signal that arrived; undefined if none has. */
  readonly heard: () => SignalName | undefined;
  readonly stopListening: () => void;
  /** Ends what still runs with the signal. */
  readonly abort: () => void;
}

export function listenForStop(signals: Signals, stdout?: Pick<OutputSink, 'closed'>): Stopping {
  const controller = new AbortController();
  const { signal } = controller;
  // Every request and every pause adds a listener, and Node warns of a leak after ten.
  setMaxListeners(0, signal);
  let heard: SignalName | undefined;
  const abort = (): void => controller.abort();
  const stopListening = signals.listen((name) => {
    heard ??= name;
    abort();
  });
  stdout?.closed?.addEventListener('abort', abort);
  return { signal, heard: () => heard, stopListening, abort };
}

/** Runs `work` to its end even if a signal arrives, then ends the command with the exit code of that signal. */
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
  if (signal === 'SIGTERM') return new CliError('cancelled', 'terminated', { exitCode: 143 });
  if (signal === 'SIGHUP') return new CliError('cancelled', 'the terminal was closed', { exitCode: 129 });
  return new CliError('cancelled', 'interrupted');
}

/**
 * Waits one turn of the event loop: a signal that arrived while the work blocked the thread is delivered only then, and would
 * be lost after the last listener is removed.
 */
async function waitForEventLoop(): Promise<void> {
  // The first setImmediate callback runs before the event loop checks for signals, the second one after it.
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The parts of `process` that a test replaces. */
interface InterruptibleProcess {
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  kill(pid: number, signal: 'SIGINT'): unknown;
  emit(event: 'SIGINT', signal: 'SIGINT'): boolean;
  exit(status: number): unknown;
}

/**
 * Interrupts this process as Ctrl-C does, for Ctrl-C in raw mode. On Windows `process.kill` would end the process without
 * calling its listeners (https://nodejs.org/api/process.html#signal-events), so they are called directly there.
 */
export function interruptSelf(target: InterruptibleProcess = process): void {
  if (target.platform !== 'win32') target.kill(target.pid, 'SIGINT');
  else if (!target.emit('SIGINT', 'SIGINT')) target.exit(130);
}
