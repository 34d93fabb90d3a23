/**
 * Aborts with a TimeoutError after `ms` milliseconds in which this process could run. Time in which the process was stopped
 * (Ctrl-Z, SIGSTOP, a debugger) does not count, because otherwise the timer would fire before the program reads a response that
 * arrived in that time. The timer of the timeout does not keep the process running.
 */
export function createRunningTimeTimeoutSignal(ms: number, tick = 1_000): AbortSignal {
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
