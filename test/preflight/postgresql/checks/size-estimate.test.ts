import { expect, test } from 'vitest';
import { sizeEstimateCheck } from '../../../../src/preflight/postgresql/checks/size-estimate.ts';
import { copy, preflightOptions, short, sourceFacts } from '../facts.ts';

const terabyte = 1e12;

test.each([
  { what: 'a small source', bytes: 1e9, verdict: 'info' },
  { what: 'two weeks at the slow end', bytes: 30 * terabyte, verdict: 'warn' },
  { what: 'two weeks at the fast end', bytes: 61 * terabyte, verdict: 'fail continuous+dump' },
])('$what: $verdict', ({ bytes, verdict }) => {
  expect(short(sizeEstimateCheck.evaluate({}, sourceFacts({ copy: copy(bytes, ['d1']) }), preflightOptions()))).toBe(
    verdict,
  );
});
