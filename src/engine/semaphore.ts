/** Lets so many in at once; the others wait in line. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>;

export function createSemaphore(width: number): Semaphore {
  let inside = 0;
  const line: (() => void)[] = [];
  return async (work) => {
    if (inside >= width) await new Promise<void>((resolve) => line.push(resolve));
    else inside += 1;
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next === undefined) inside -= 1;
      else next();
    }
  };
}
