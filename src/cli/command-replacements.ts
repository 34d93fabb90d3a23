/** Maps several words to the same replacement command. */
export function mapWordsToReplacementCommand(
  command: string,
  verbs: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(verbs.map((verb) => [verb, command]));
}

/** The command that replaces the first words of a line of a similar tool; the longest entry decides. */
export function findReplacement(
  words: readonly string[],
  replacements: Readonly<Record<string, string>> = {},
): string | undefined {
  const counts = words.map((_, at) => at + 1).reverse();
  const count = counts.find((length) => Object.hasOwn(replacements, words.slice(0, length).join(' ').toLowerCase()));
  if (count === undefined) return undefined;
  return fillPlaceholder(replacements[words.slice(0, count).join(' ').toLowerCase()] ?? '', words[count]);
}

/** The command with the word of the line in place of its placeholder, if the word can be one and needs no quotes. */
export function fillPlaceholder(command: string, word = ''): string {
  return command.replace(/\b(?:ID|DROPLET|NAME|PROFILE|KEY)\b/, (placeholder) => {
    const pattern = placeholder === 'ID' ? /^\d{1,20}$/ : /^[a-z\d][\w.-]{0,62}$/i;
    return pattern.test(word) ? word : placeholder;
  });
}
