/** Maps several words to the same replacement command. */
export function mapWordsToReplacementCommand(
  command: string,
  verbs: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(verbs.map((verb) => [verb, command]));
}
