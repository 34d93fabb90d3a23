/** A result of the cache, and whether this call computed it (false: an earlier call did). */
export interface CachedResult<T> {
  readonly value: T;
  readonly isOwn: boolean;
}

/** Returns the result for the key. Later calls with the same key return this result, or wait until it has been computed. */
export type ResultCache<T> = (key: string, produce: () => Promise<T>) => Promise<CachedResult<T>>;

/**
 * Keeps results for later calls, up to a total size; beyond this size the oldest result is discarded, and a later call
 * computes it again.
 * @param sizeOf such as the number of databases
 */
export function createResultCache<T>(sizeOf: (value: T) => number, maxSize = 1000): ResultCache<T> {
  const entries = new Map<string, { readonly promise: Promise<T>; size: number | undefined }>();
  const discardOldest = () => {
    let total = 0;
    for (const [key, { size = 0 }] of [...entries].reverse()) {
      total += size;
      if (total > maxSize && total > size) entries.delete(key);
    }
  };
  return async (key, produce) => {
    const known = entries.get(key);
    if (known !== undefined) return { value: await known.promise, isOwn: false };
    const entry: { readonly promise: Promise<T>; size: number | undefined } = { promise: produce(), size: undefined };
    entries.set(key, entry);
    const value = await entry.promise;
    entry.size = sizeOf(value);
    discardOldest();
    return { value, isOwn: true };
  };
}
