import type { Clock } from '../../platform/host.ts';

/** Detects late responses with one timer for all requests in flight, because all requests have the same time limit. */
export interface LateResponseDetector {
  /** Returns the response to a request that is sent now; undefined when it is late or the run no longer waits for it. */
  withinLimit<T>(response: Promise<T>): Promise<T | undefined>;
  close(): void;
}

interface PendingResponse {
  readonly due: number;
  readonly resolve: (late: undefined) => void;
}

/** @param limit milliseconds after which a response is late @param ended aborted when the run no longer waits for responses */
export function createLateResponseDetector(clock: Clock, limit: number, ended: AbortSignal): LateResponseDetector {
  // Pending responses in the order of their deadlines.
  const pending = new Set<PendingResponse>();
  const closing = new AbortController();
  let isWatching = false;

  const watch = async (): Promise<void> => {
    isWatching = true;
    for (let [first] = pending; first !== undefined && !closing.signal.aborted; [first] = pending) {
      await clock.sleep(Math.max(0, first.due - clock.now()), closing.signal).catch(() => {});
      const now = clock.now();
      for (const entry of pending) {
        if (entry.due > now) break;
        pending.delete(entry);
        entry.resolve(undefined);
      }
    }
    isWatching = false;
  };
  const end = (): void => {
    for (const { resolve } of pending) resolve(undefined);
    pending.clear();
  };
  ended.addEventListener('abort', end);
  return {
    withinLimit<T>(response: Promise<T>) {
      return new Promise<T | undefined>((resolve, reject) => {
        const entry: PendingResponse = { due: clock.now() + limit, resolve };
        if (ended.aborted) resolve(undefined);
        else pending.add(entry);
        if (!isWatching) void watch();
        const done = (): void => void pending.delete(entry);
        response.then(
          (value) => {
            done();
            resolve(value);
          },
          (error: unknown) => {
            done();
            reject(error);
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
