import { expect, it } from 'vitest';
import {
  getPreflightQueryValue,
  getPreflightQueryValueOrDefault,
  markPreflightQueryOptional,
  type PreflightQueryResults,
} from '../../../src/db/preflight/query.ts';

const query = { id: 'q', decode: Number };

it('only a known result has a value', () => {
  const known: PreflightQueryResults = new Map([[query, { kind: 'known', value: 7 }]]);
  const failed: PreflightQueryResults = new Map([[query, { kind: 'failed', reason: 'lost' }]]);
  expect(getPreflightQueryValue(known, query)).toBe(7);
  expect(getPreflightQueryValue(failed, query)).toBeUndefined();
  expect(getPreflightQueryValue(new Map(), query)).toBeUndefined();
  expect(getPreflightQueryValueOrDefault({ kind: 'skipped', reason: 'x' }, 3)).toBe(3);
  expect(getPreflightQueryValueOrDefault({ kind: 'known', value: 1 }, 3)).toBe(1);
  expect(markPreflightQueryOptional(query)).toEqual({ optional: query });
});
