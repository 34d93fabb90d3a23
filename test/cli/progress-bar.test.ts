import { expect, it } from 'vitest';
import { progressBar, sparkline } from '../../src/cli/progress.ts';

it.each([
  [0, '', '░░░░'],
  [0.5, '██', '░░'],
  [0.53, '██▏', '░'],
  [1, '████', ''],
  [7, '████', ''],
  [-1, '', '░░░░'],
])('a bar of %d has always its cells', (part, full, empty) => {
  expect(progressBar(part, 4)).toEqual({ full, empty });
});

it('a sparkline shows the last values, with the highest as a full cell', () => {
  expect(sparkline([9, 0, 50, 100], 3)).toBe('▁▅█');
  expect(sparkline([0, 0], 5)).toBe('▁▁');
  expect(sparkline([1, 2], 0)).toBe('');
  expect(sparkline([], 5)).toBe('');
});
