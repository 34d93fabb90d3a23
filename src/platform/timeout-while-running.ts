/**
 * Aborts with a TimeoutError after `ms` milliseconds in which this process could run. Time in which it was stopped (Ctrl-Z,
 * SIGSTOP, a debugger) does not count: otherwise the timer would fire before a response that arrived in that time is read.
 * Does not keep the process alive.
 */
export function timeoutWhileRunning(ms: number, tick = 1_000): AbortSignal {
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
