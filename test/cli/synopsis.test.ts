import { expect, test } from 'vitest';
import { formatOptionTerm, formatSynopsis } from '../../src/cli/command.ts';

test('optional arguments are in brackets, variadic ones have dots', () => {
  const place = { description: '' };
  expect(
    formatSynopsis('cloudctl x', {
      arguments: [
        { ...place, name: 'A', required: true },
        { ...place, name: 'B', variadic: true },
      ],
    }),
  ).toBe('cloudctl x A [B...] [OPTIONS]');
  expect(formatSynopsis('cloudctl x', { arguments: [{ ...place, name: 'A', required: true, variadic: true }] })).toBe(
    'cloudctl x A... [OPTIONS]',
  );
  expect(formatSynopsis('cloudctl x', {})).toBe('cloudctl x [OPTIONS]');
});

test('long names stand below each other, with a short one or without', () => {
  expect(formatOptionTerm({ name: 'output', short: 'o', valueName: 'FORMAT', description: '' })).toBe(
    '-o, --output FORMAT',
  );
  expect(formatOptionTerm({ name: 'trace', description: '' })).toBe('    --trace');
});
