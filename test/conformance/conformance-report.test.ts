import { expect, it } from 'vitest';
import { describeConformanceResult } from '../../src/conformance/conformance-report.ts';

const row = { id: '1', section: '1', text: 'text' };

it.each([
  [{ ...row, status: 'holds' }, ''],
  [{ ...row, status: 'not_testable', reason: 'R' }, 'R'],
  [{ ...row, status: 'open_choice', observed: { A: '1', B: '2' } }, 'A: 1; B: 2'],
] as const)('%j', (result, text) => expect(describeConformanceResult(result)).toBe(text));

it('a difference has its three parts', () => {
  const text = describeConformanceResult({ ...row, status: 'differs', expected: 'E', sent: 'S', received: 'R' });
  for (const part of ['E', 'S', 'R']) expect(text).toContain(part);
});
