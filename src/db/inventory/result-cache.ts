/** A result of the cache, and whether this call computed it (false: an earlier call did). */
export interface CachedResult<T> {
  readonly value: T;
  readonly isOwn: boolean;
}

/**
 * Returns the result for the key. Later calls with the same key return this result, or wait until it has been computed. An
 * error, and a result that `isComplete` rejects, is returned to the calls that wait for it; a later call computes it once more.
 */
export type ResultCache<T> = (
  key: string,
  produce: () => Promise<T>,
  isComplete?: (value: T) => boolean,
) => Promise<CachedResult<T>>;

interface SharedEntry<T> {
  readonly promise: Promise<T>;
  size: number | undefined;
}

/**
 * Keeps results for later calls, up to a total size; beyond this size the oldest result is discarded, and a later call
 * computes it again.
 * @param sizeOf such as the number of databases
 */
export function createResultCache<T>(sizeOf: (value: T) => number, maxSize = 1000): ResultCache<T> {
  const entries = new Map<string, SharedEntry<T>>();
  const failed = new Set<string>();
  const discardOldest = () => {
    let total = 0;
    for (const [key, { size = 0 }] of [...entries].reverse()) {
      total += size;
      if (total > maxSize && total > size) entries.delete(key);
    }
  };
  const discardFailed = (key: string) => {
    if (!failed.has(key)) entries.delete(key);
    failed.add(key);
  };
  return async (key, produce, isComplete = () => true) => {
    const known = entries.get(key);
    if (known !== undefined) return { value: await known.promise, isOwn: false };
    const entry: SharedEntry<T> = { promise: produce(), size: undefined };
    entries.set(key, entry);
    try {
      const value = await entry.promise;
      entry.size = sizeOf(value);
      if (isComplete(value)) discardOldest();
      else discardFailed(key);
      return { value, isOwn: true };
    } catch (error) {
      discardFailed(key);
      throw error;
    }
  };
}
