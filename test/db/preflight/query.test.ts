import { expect, it } from 'vitest';
import { markOptional, type QueryResults, queryValue, valueOr } from '../../../src/db/preflight/query.ts';

const query = { id: 'q', decode: Number };

it('only a known result has a value', () => {
  const known: QueryResults = new Map([[query, { kind: 'known', value: 7 }]]);
  const failed: QueryResults = new Map([[query, { kind: 'failed', reason: 'lost' }]]);
  expect(queryValue(known, query)).toBe(7);
  expect(queryValue(failed, query)).toBeUndefined();
  expect(queryValue(new Map(), query)).toBeUndefined();
  expect(valueOr({ kind: 'skipped', reason: 'x' }, 3)).toBe(3);
  expect(valueOr({ kind: 'known', value: 1 }, 3)).toBe(1);
  expect(markOptional(query)).toEqual({ optional: query });
});
