/**
 * Yields the items that `produce` pushes. `push` waits while a slow reader has not taken the earlier items, so that only a
 * few items are in memory. An error of `produce` is thrown after the items that were pushed before it.
 */
export async function* streamPushedItems<T>(
  produce: (push: (item: T) => Promise<void>) => Promise<void>,
  maxWaiting = 64,
): AsyncGenerator<T> {
  const items: T[] = [];
  const waiting: (() => void)[] = [];
  let isOver = false;
  let wake = (): void => {};
  const work = produce(async (item) => {
    items.push(item);
    wake();
    while (items.length >= maxWaiting && !isOver) await new Promise<void>((resolve) => waiting.push(resolve));
  }).finally(() => {
    isOver = true;
    wake();
  });
  // Marks the rejection as handled, because the same error is thrown only after all items were yielded.
  work.catch(() => {});
  try {
    for (;;) {
      const next = items.shift();
      if (next !== undefined) {
        waiting.shift()?.();
        yield next;
      } else if (isOver) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    await work;
  } finally {
    isOver = true;
    for (const go of waiting) go();
  }
}
