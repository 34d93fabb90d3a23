/** An argument as redis-cli reads it from a line: unquoted when possible, otherwise in double quotes with escapes. */
export function quoteArgument(argument: string): string {
  if (/^[\w.:+~&@%*|/=-]+$/.test(argument)) return argument;
  const inside = argument
    .replace(/[\\"]/g, '\\$&')
    .replace(/[^\x20-\x7e]/gu, (character) =>
      [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
    );
  return `"${inside}"`;
}

/** Formats a command as one line that a user can enter in redis-cli. */
export function formatCommand(...parts: readonly string[]): string {
  return parts.map(quoteArgument).join(' ');
}
