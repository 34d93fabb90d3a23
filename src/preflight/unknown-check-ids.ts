import { usageError } from '../errors.ts';

/** The closest of the known words. */
export type FindNearest = (word: string, known: readonly string[]) => string | undefined;

/** Throws a CliError (usage) for an id in `--accept` that no check has. */
export function rejectUnknownCheckIds(accepted: readonly string[], ids: readonly string[], nearest: FindNearest): void {
  const strange = accepted.filter((id) => !ids.includes(id));
  if (strange.length === 0) return;
  throw usageError(
    `no check is called ${strange.map(inDoubleQuotes).join(', ')}`,
    suggestionHint(strange, ids, nearest) ?? `take the ids from the report, as in --accept ${ids[0] ?? 'ID'}`,
  );
}

export function suggestionHint(
  strange: readonly string[],
  known: readonly string[],
  nearest: FindNearest,
): string | undefined {
  const near = strange.flatMap((word) => nearest(word, known) ?? []);
  return near.length === 0 ? undefined : `did you mean ${near.map(inDoubleQuotes).join(', ')}?`;
}

export function inDoubleQuotes(word: string): string {
  return `"${word}"`;
}
