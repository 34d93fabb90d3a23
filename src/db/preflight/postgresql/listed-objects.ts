import { countOf } from '../../../base/text.ts';

/** The objects that a finding lists: at most 20; `buildUnlistedObjectsNote` reports how many are omitted. */
export function limitFindingObjects<T>(things: readonly T[]): readonly T[] {
  return things.slice(0, listLimit);
}

/** The note ` 7 more are not listed.` after a list that was cut; empty for a complete list. */
export function buildUnlistedObjectsNote(names: readonly unknown[] | number): string {
  const more = (typeof names === 'number' ? names : names.length) - listLimit;
  return more <= 0 ? '' : ` ${countOf(more, 'more is', 'more are')} not listed.`;
}

const listLimit = 20;
