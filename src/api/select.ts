/** The first `limit` items; the source is not asked for more. */
export async function* take<T>(items: AsyncIterable<T>, limit: number | undefined): AsyncGenerator<T> {
  let left = limit ?? Number.POSITIVE_INFINITY;
  for await (const item of items) {
    yield item;
    left -= 1;
    if (left === 0) return;
  }
}

export async function* where<T>(items: AsyncIterable<T>, matches: (item: T) => boolean): AsyncGenerator<T> {
  for await (const item of items) if (matches(item)) yield item;
}

/** A shell's pattern on a whole name: `*`, `?` and `[a-z]`; everything else stands for itself. */
export function globMatcher(pattern: string): (name: string) => boolean {
  const source = pattern.replace(
    /\[(!?)([^\]]+)\]|[\s\S]/g,
    (found, not: string | undefined, set: string | undefined) => {
      if (set !== undefined) return `[${not === '!' ? '^' : ''}${set.replace(/[\\\]^]/g, '\\$&')}]`;
      if (found === '*') return '.*';
      return found === '?' ? '.' : found.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
    },
  );
  const expression = new RegExp(`^${source}$`, 'su');
  return (name) => expression.test(name);
}
