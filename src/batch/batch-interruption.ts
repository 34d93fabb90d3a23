import { setMaxListeners } from 'node:events';
import type { HostSystem, SignalName } from '../platform/host.ts';

/** The signals that stop a batch when the user interrupts it. */
export interface BatchInterruption {
  /** Once this signal is aborted, the batch sends no further request. */
  readonly ending: AbortSignal;
  /** Once this signal is aborted, the batch no longer waits for responses to requests that were sent. */
  readonly ended: AbortSignal;
  readonly receivedSignal: () => SignalName | undefined;
  stop(): void;
}

/**
 * Listens for SIGINT, SIGTERM and a closed stdout. After the first signal, the batch waits a limited time for responses; a
 * second signal ends the wait. @param limit milliseconds
 */
export function listenForBatchInterruption({ signals, clock, stdout }: HostSystem, limit: number): BatchInterruption {
  const ending = new AbortController();
  const ended = new AbortController();
  const over = new AbortController();
  // Every worker of the batch adds an abort listener, and Node warns of a leak after ten listeners.
  setMaxListeners(0, ending.signal, ended.signal);
  let received: SignalName | undefined;
  const end = (): void => {
    ending.abort();
    clock.sleep(limit, over.signal).then(
      () => ended.abort(),
      () => {},
    );
  };
  const stopListening = signals.listen((name) => {
    if (received !== undefined) return ended.abort();
    received = name;
    end();
  });
  // The reader of stdout has closed the pipe; the user can resume the rest of the batch.
  stdout.closed?.addEventListener('abort', end);
  return {
    ending: ending.signal,
    ended: ended.signal,
    receivedSignal: () => received,
    stop() {
      // Without an error listener on stdout, a closed pipe would end the program before the summary is printed on stderr.
      if (stdout.closed?.aborted !== true) stopListening();
      stdout.closed?.removeEventListener('abort', end);
      over.abort();
    },
  };
}
