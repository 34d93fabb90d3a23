import type { HttpSender } from './http-sender.ts';
import { createRunningTimeTimeoutSignal } from './running-time-signal.ts';

/** Limits each HTTP request to `ms` milliseconds in addition to the deadline of the request. */
export function createHttpSenderWithRequestTimeout(send: HttpSender, ms: number): HttpSender {
  return (url, init) =>
    send(url, { ...init, signal: AbortSignal.any([init.signal, createRunningTimeTimeoutSignal(ms)]) });
}
