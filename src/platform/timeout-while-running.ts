/**
 * Aborts with a TimeoutError after so many milliseconds in which this process could run. Of the time in which it was stopped
 * (Ctrl-Z, SIGSTOP, a debugger) nothing counts: what came meanwhile lies in the socket, and a timer that is long over would
 * be served before it. Does not keep the process alive.
 */
export function timeoutWhileRunning(ms: number, tick = 1_000): AbortSignal {
  const controller = new AbortController();
  const wait = (left: number): void => {
    const [asked, started] = [Math.min(left, tick), performance.now()];
    setTimeout(() => {
      const isLate = performance.now() - started > asked + tick;
      const rest = isLate ? left : left - asked;
      if (rest > 0) wait(rest);
      else controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    }, asked).unref();
  };
  wait(ms);
  return controller.signal;
}
