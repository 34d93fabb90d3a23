import { setTimeout as after } from 'node:timers/promises';
import { CliError } from '../base/errors.ts';
import type { Clock, Signals } from './host.ts';
import type { HttpSender } from './http-sender.ts';
import { interruptedError, listenForStop } from './signals.ts';

/** The Clock interface, implemented with the clocks of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    // The sleep is measured with the monotonic clock, because the system time may be changed during the sleep.
    const end = performance.now() + ms;
    for (let left = ms; left > 0; left = end - performance.now()) {
      await after(Math.min(left, maxTimerMs), undefined, signal === undefined ? {} : { signal });
    }
  },
};

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value | PromiseLike<Value>) => void;
}

/** A promise that other code resolves (Promise.withResolvers of later Node versions). */
export function createDeferred<Value>(): Deferred<Value> {
  let resolve: Deferred<Value>['resolve'] = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/**
 * Aborts with a TimeoutError after `ms` milliseconds in which this process could run. Time in which the process was stopped
 * (Ctrl-Z, SIGSTOP, a debugger) does not count, because otherwise the timer would fire before the program reads a response that
 * arrived in that time. The timer of the timeout does not keep the process running.
 */
export function runningTimeout(ms: number, tick = 1_000): AbortSignal {
  const controller = new AbortController();
  const wait = (left: number): void => {
    const [duration, started] = [Math.min(left, tick), performance.now()];
    setTimeout(() => {
      const isLate = performance.now() - started > duration + tick;
      const rest = isLate ? left : left - duration;
      if (rest > 0) wait(rest);
      else controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    }, duration).unref();
  };
  wait(ms);
  return controller.signal;
}

/** The longest timer of Node in milliseconds (24 days); a longer timer fires immediately. */
export const maxTimerMs = 2 ** 31 - 1;

/**
 * Aborts with a TimeoutError after `ms` milliseconds, at most 24 days, or before that when one of the signals `until` is aborted,
 * with its reason. The timer does not keep the process running.
 *
 * `AbortSignal.any` refers to its signals weakly, and so does the timer of `AbortSignal.timeout`: in Node 20 a garbage collection
 * removes such a signal together with its time limit, and whoever waits for the combination waits for ever. Here the timer
 * keeps the controller, and with it the signal, until it fires.
 */
export function timeoutSignal(ms: number, ...until: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  setTimeout(
    () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    Math.min(ms, maxTimerMs),
  ).unref();
  return until.length === 0 ? controller.signal : AbortSignal.any([...until, controller.signal]);
}

/**
 * Runs asynchronous work until it ends or the process receives a signal. After a signal the result of the work is ignored: the
 * command fails with `message` and the exit code of the signal.
 */
export async function runUntilSignal<T>(
  signals: Signals,
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, heard: heardSignal, stopListening } = listenForStop(signals);
  const [outcome] = await Promise.allSettled([work(signal)]);
  stopListening();
  const heard = heardSignal();
  if (heard !== undefined) throw new CliError('cancelled', message, { exitCode: interruptedError(heard).exitCode });
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/** Limits each HTTP request to `ms` milliseconds in addition to the deadline of the request. */
export function limitedSender(send: HttpSender, ms: number): HttpSender {
  return (url, init) => send(url, { ...init, signal: AbortSignal.any([init.signal, runningTimeout(ms)]) });
}
