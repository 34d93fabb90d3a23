/** A result, and whether this call has produced it. */
export interface CachedResult<T> {
  readonly value: T;
  readonly isOwn: boolean;
}

/** The result for the key; calls with the same key during and after its production share it. */
export type ResultCache<T> = (key: string, produce: () => Promise<T>) => Promise<CachedResult<T>>;

/**
 * Keeps results for later calls, up to a total size; then the oldest one is discarded and would be produced again.
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
