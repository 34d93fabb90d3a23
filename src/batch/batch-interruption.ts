import { setMaxListeners } from 'node:events';
import type { Host, SignalName } from '../platform/host.ts';

/** How a person ends a batch. */
export interface BatchInterruption {
  /** Nothing more is to be sent. */
  readonly ending: AbortSignal;
  /** What is in flight is not awaited any longer. */
  readonly ended: AbortSignal;
  readonly receivedSignal: () => SignalName | undefined;
  stop(): void;
}

/** The first signal lets requests in flight end for so long; a second one does not. */
export function listenForInterruption({ signals, clock, stdout }: Host, patience: number): BatchInterruption {
  const ending = new AbortController();
  const ended = new AbortController();
  const over = new AbortController();
  // Each lane listens to them, and Node calls more than ten a leak.
  setMaxListeners(0, ending.signal, ended.signal);
  let heard: SignalName | undefined;
  const end = (): void => {
    ending.abort();
    clock.sleep(patience, over.signal).then(
      () => ended.abort(),
      () => {},
    );
  };
  const stopListening = signals.listen((name) => {
    if (heard !== undefined) return ended.abort();
    heard = name;
    end();
  });
  // Nobody reads the rows any more: what is left can be resumed.
  stdout.closed?.addEventListener('abort', end);
  return {
    ending: ending.signal,
    ended: ended.signal,
    receivedSignal: () => heard,
    stop() {
      // Where nobody reads any more the program ends, quietly, once nobody listens: what is left to say has to be said first.
      if (stdout.closed?.aborted !== true) stopListening();
      stdout.closed?.removeEventListener('abort', end);
      over.abort();
    },
  };
}
