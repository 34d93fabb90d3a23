import type { PreflightQuery, PreflightQueryResult, PreflightQueryResults } from './query.ts';

export type PreflightQueryValueChange = <T>(query: PreflightQuery<T>, how: (value: T) => T) => void;

/** The results after the changes; the same map if nothing changes. A result that is not known remains not known. */
export function changePreflightQueryValues(
  results: PreflightQueryResults,
  apply: (change: PreflightQueryValueChange) => void,
): PreflightQueryResults {
  const changed = new Map<PreflightQuery<unknown>, PreflightQueryResult<unknown>>();
  apply((query, how) => {
    const result = changed.get(query) ?? results.get(query);
    if (result?.kind !== 'known') return;
    // The cast is safe: a map holds for each query only a value that the decoder of the query or its `how` returned.
    const next = how(result.value as Parameters<typeof how>[0]);
    if (next !== result.value) changed.set(query, { kind: 'known', value: next });
  });
  return changed.size === 0 ? results : new Map([...results, ...changed]);
}
