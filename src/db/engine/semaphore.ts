/** Runs a limited number of tasks at the same time; other tasks wait in the order in which they were added. */
export type Semaphore = <T>(task: () => Promise<T>) => Promise<T>;

export function createSemaphore(width: number): Semaphore {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
