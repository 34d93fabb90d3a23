import { expect, test } from 'vitest';
import { extFunctions } from '../../../src/preflight/postgresql/extension-functions.ts';
import { entered, ground, short, wish } from './facts.ts';

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
  const where = ground({ entry: entered({ version: source }) });
  const outcome = extFunctions.judge({ earthUses: uses }, 'd1', where, wish({ targetVersion: target }));
  expect(short(outcome)).toBe(verdict);
});
