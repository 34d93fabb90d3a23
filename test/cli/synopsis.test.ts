import { expect, test } from 'vitest';
import { optionTerm, synopsis } from '../../src/cli/synopsis.ts';

test('what may be left out stands in brackets, what may be repeated has dots', () => {
  const place = { description: '' };
  expect(
    synopsis('cloudctl x', {
      arguments: [
        { ...place, name: 'A', required: true },
        { ...place, name: 'B', variadic: true },
      ],
    }),
  ).toBe('cloudctl x A [B...] [OPTIONS]');
  expect(synopsis('cloudctl x', { arguments: [{ ...place, name: 'A', required: true, variadic: true }] })).toBe(
    'cloudctl x A... [OPTIONS]',
  );
  expect(synopsis('cloudctl x', {})).toBe('cloudctl x [OPTIONS]');
});

test('long names stand below each other, with a short one or without', () => {
  expect(optionTerm({ name: 'output', short: 'o', value: 'FORMAT', description: '' })).toBe('-o, --output FORMAT');
  expect(optionTerm({ name: 'trace', description: '' })).toBe('    --trace');
});
