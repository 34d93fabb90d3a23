import type { HttpSender } from './http-sender.ts';
import { timeoutWhileRunning } from './timeout-while-running.ts';

/** Limits each request to `ms` milliseconds in addition to its own deadline. */
export function withRequestDeadline(send: HttpSender, ms: number): HttpSender {
  return (url, init) => send(url, { ...init, signal: AbortSignal.any([init.signal, timeoutWhileRunning(ms)]) });
}
