import { usageError } from '../errors.ts';

/** Finds the known word closest to a misspelt one; undefined if no word is close. */
export type FindNearestWord = (word: string, known: readonly string[]) => string | undefined;

/** Throws a CliError (usage) if `--accept` contains an id that no check has. */
export function rejectUnknownCheckIds(
  accepted: readonly string[],
  ids: readonly string[],
  nearest: FindNearestWord,
): void {
  const unknown = accepted.filter((id) => !ids.includes(id));
  if (unknown.length === 0) return;
  throw usageError(
    `unknown check id: ${unknown.map(quoteDouble).join(', ')}`,
    suggestionHint(unknown, ids, nearest) ?? `use an id of the report, such as --accept ${ids[0] ?? 'ID'}`,
  );
}

export function suggestionHint(
  words: readonly string[],
  known: readonly string[],
  nearest: FindNearestWord,
): string | undefined {
  const near = words.flatMap((word) => nearest(word, known) ?? []);
  return near.length === 0 ? undefined : `did you mean ${near.map(quoteDouble).join(', ')}?`;
}

export function quoteDouble(word: string): string {
  return `"${word}"`;
}
