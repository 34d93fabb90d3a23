import { usage } from '../errors.ts';

/** The closest of the known words. */
export type Nearest = (word: string, known: readonly string[]) => string | undefined;

/** Throws a CliError (usage) for an id in `--accept` that no check has. */
export function refuseUnknownIds(accepted: readonly string[], ids: readonly string[], nearest: Nearest): void {
  const strange = accepted.filter((id) => !ids.includes(id));
  if (strange.length === 0) return;
  throw usage(
    `no check is called ${strange.map(quoted).join(', ')}`,
    didYouMean(strange, ids, nearest) ?? `take the ids from the report, as in --accept ${ids[0] ?? 'ID'}`,
  );
}

export function didYouMean(strange: readonly string[], known: readonly string[], nearest: Nearest): string | undefined {
  const near = strange.flatMap((word) => nearest(word, known) ?? []);
  return near.length === 0 ? undefined : `did you mean ${near.map(quoted).join(', ')}?`;
}

export function quoted(word: string): string {
  return `"${word}"`;
}
