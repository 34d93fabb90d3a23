/** A shell's pattern on a whole name: `*`, `?` and `[a-z]`; everything else stands for itself. */
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
