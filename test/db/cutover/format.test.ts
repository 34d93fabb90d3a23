import { expect, it } from 'vitest';
import { formatChecklist } from '../../../src/db/cutover/checklist.ts';

it('puts what was observed below its step, without control characters', () => {
  const text = formatChecklist([
    { id: 'writes', state: 'done', title: 'step one', observed: 'a\u001b[2J\nb' },
    { id: 'lag', state: 'not_checked', title: 'step two', observed: 'later' },
  ]);
  expect(text).not.toMatch(/\u001b/);
  const lines = text.split('\n');
  expect(lines).toHaveLength(4);
  expect(new Set(lines.map((line) => line.search(/(?<=^.{12} )\S/)))).toEqual(new Set([13]));
});
