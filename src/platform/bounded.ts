import { runningTimeout } from './running-time.ts';
import type { Send } from './send.ts';

/** No request takes longer than so many milliseconds, whatever its own deadline allows. */
export function bounded(send: Send, ms: number): Send {
  return (url, init) => send(url, { ...init, signal: AbortSignal.any([init.signal, runningTimeout(ms)]) });
}
