/** A word as redis-cli reads it from a line: bare when it can be, otherwise in double quotes with escapes. */
export function quoteRedisArgument(word: string): string {
  if (/^[\w.:+~&@%*|/=-]+$/.test(word)) return word;
  const inside = word
    .replace(/[\\"]/g, '\\$&')
    .replace(/[^\x20-\x7e]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
    );
  return `"${inside}"`;
}

/** One line of redis-cli. */
export function formatRedisCommand(...words: readonly string[]): string {
  return words.map(quoteRedisArgument).join(' ');
}
