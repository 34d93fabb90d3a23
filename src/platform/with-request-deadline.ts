import type { HttpSender } from './http-sender.ts';
import { timeoutWhileRunning } from './timeout-while-running.ts';

/** No request takes longer than so many milliseconds, whatever its own deadline allows. */
export function withRequestDeadline(send: HttpSender, ms: number): HttpSender {
  return (url, init) => send(url, { ...init, signal: AbortSignal.any([init.signal, timeoutWhileRunning(ms)]) });
}
