/** Matches whole names with a shell pattern that may contain `*`, `?` and `[a-z]`. Throws for an invalid range in the pattern. */
export function createGlobMatcher(pattern: string): (name: string) => boolean {
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
