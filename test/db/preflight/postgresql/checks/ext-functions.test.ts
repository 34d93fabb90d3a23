import { expect, test } from 'vitest';
import { extFunctionsCheck } from '../../../../../src/db/preflight/postgresql/checks/ext-functions.ts';
import { connected, preflightOptions, short, sourceFacts } from '../facts.ts';

const index = { name: 'index public.i on public.t', needed: true };
const check = { name: 't_check on public.t', needed: false };

test.each([
  { uses: [index], source: 140_000, target: '15', verdict: 'fail continuous+dump' },
  { uses: [check], source: 140_000, target: '15', verdict: 'warn' },
  { uses: [check, index], source: 150_000, target: '15.4', verdict: 'fail continuous+dump' },
  { uses: [index], source: 140_000, target: '16', verdict: 'pass' },
  { uses: [index], source: 140_000, target: undefined, verdict: 'warn' },
  { uses: [index], source: 160_000, target: undefined, verdict: 'pass' },
  { uses: [], source: 140_000, target: '15', verdict: 'pass' },
])('$uses of earthdistance, $source to $target: $verdict', ({ uses, source, target, verdict }) => {
  const where = sourceFacts({ connection: connected({ version: source }) });
  const outcome = extFunctionsCheck.evaluate(
    { earthUses: uses },
    'd1',
    where,
    preflightOptions({ targetVersion: target }),
  );
  expect(short(outcome)).toBe(verdict);
});
