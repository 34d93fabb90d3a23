import { usageError } from '../../base/errors.ts';

/** Finds the known word closest to a misspelt one; undefined if no word is close. */
export type NearestWordFinder = (word: string, known: readonly string[]) => string | undefined;

/** Throws a CliError (usage) if `--accept` contains an id that no check has. */
export function rejectUnknownCheckIds(
  accepted: readonly string[],
  ids: readonly string[],
  nearest: NearestWordFinder,
): void {
  const unknown = accepted.filter((id) => !ids.includes(id));
  if (unknown.length === 0) return;
  throw usageError(
    `unknown check id: ${unknown.map(wrapInDoubleQuotes).join(', ')}`,
    buildNearestWordHint(unknown, ids, nearest) ?? `use an id of the report, such as --accept ${ids[0] ?? 'ID'}`,
  );
}

export function buildNearestWordHint(
  words: readonly string[],
  known: readonly string[],
  nearest: NearestWordFinder,
): string | undefined {
  const near = words.flatMap((word) => nearest(word, known) ?? []);
  return near.length === 0 ? undefined : `did you mean ${near.map(wrapInDoubleQuotes).join(', ')}?`;
}

export function wrapInDoubleQuotes(word: string): string {
  return `"${word}"`;
}
