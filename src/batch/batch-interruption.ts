import { setMaxListeners } from 'node:events';
import type { Host, SignalName } from '../platform/host.ts';

/** How the user ends a batch before it is complete. */
export interface BatchInterruption {
  /** Aborted: no further request is sent. */
  readonly ending: AbortSignal;
  /** Aborted: responses of requests in flight are no longer awaited. */
  readonly ended: AbortSignal;
  readonly receivedSignal: () => SignalName | undefined;
  stop(): void;
}

/**
 * Listens for signals and for a closed stdout. After the first signal, responses are awaited for a limited time; a second
 * signal ends that time.
 * @param limit milliseconds
 */
export function listenForInterruption({ signals, clock, stdout }: Host, limit: number): BatchInterruption {
  const ending = new AbortController();
  const ended = new AbortController();
  const over = new AbortController();
  // Every worker adds a listener, and Node warns of a leak after ten.
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
  // stdout has no reader any more. The rest of the batch can be resumed.
  stdout.closed?.addEventListener('abort', end);
  return {
    ending: ending.signal,
    ended: ended.signal,
    receivedSignal: () => received,
    stop() {
      // Without a listener a closed stdout ends the program at once, before the summary is printed on stderr.
      if (stdout.closed?.aborted !== true) stopListening();
      stdout.closed?.removeEventListener('abort', end);
      over.abort();
    },
  };
}
