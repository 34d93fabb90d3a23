import type { HttpSender } from './http-sender.ts';
import { createRunningTimeSignal } from './running-time-signal.ts';

/** Limits each HTTP request to `ms` milliseconds in addition to the deadline of the request. */
export function withRequestDeadline(send: HttpSender, ms: number): HttpSender {
  return (url, init) => send(url, { ...init, signal: AbortSignal.any([init.signal, createRunningTimeSignal(ms)]) });
}
