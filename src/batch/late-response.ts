import type { Clock } from '../platform/host.ts';

/** Tells when answers are overdue: one timer for all requests in flight, since each has the same time. */
export interface LateResponseTimer {
  /** The answer of a request that is sent now; undefined once it is overdue, or is not awaited any longer. */
  withinLimit<T>(answer: Promise<T>): Promise<T | undefined>;
  close(): void;
}

interface PendingResponse {
  readonly due: number;
  readonly tell: (late: undefined) => void;
}

/** `ms`: how long an answer may take. `ended`: no answer is awaited any longer. */
export function createLateResponseTimer(clock: Clock, ms: number, ended: AbortSignal): LateResponseTimer {
  // In the order in which they are due.
  const flying = new Set<PendingResponse>();
  const closing = new AbortController();
  let watching = false;

  const watch = async (): Promise<void> => {
    watching = true;
    for (let [first] = flying; first !== undefined && !closing.signal.aborted; [first] = flying) {
      await clock.sleep(Math.max(0, first.due - clock.now()), closing.signal).catch(() => {});
      const now = clock.now();
      for (const flight of flying) {
        if (flight.due > now) break;
        flying.delete(flight);
        flight.tell(undefined);
      }
    }
    watching = false;
  };
  const end = (): void => {
    for (const { tell } of flying) tell(undefined);
    flying.clear();
  };
  ended.addEventListener('abort', end);
  return {
    withinLimit<T>(answer: Promise<T>) {
      return new Promise<T | undefined>((tell, fail) => {
        const flight: PendingResponse = { due: clock.now() + ms, tell };
        if (ended.aborted) tell(undefined);
        else flying.add(flight);
        if (!watching) void watch();
        const done = (): void => void flying.delete(flight);
        answer.then(
          (got) => {
            done();
            tell(got);
          },
          (error: unknown) => {
            done();
            fail(error);
          },
        );
      });
    },
    close() {
      ended.removeEventListener('abort', end);
      closing.abort();
    },
  };
}
