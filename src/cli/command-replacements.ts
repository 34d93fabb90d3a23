/** The same command for several words. */
export function buildCommandReplacements(command: string, verbs: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(verbs.map((verb) => [verb, command]));
}
