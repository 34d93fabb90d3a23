import { closeSync, openSync } from 'node:fs';
import { expect, test } from 'vitest';
import { canDescriptorBeTerminal } from '../../src/platform/stream-sink.ts';

test.each([
  { path: '/dev/null', candidate: false },
  { path: 'package.json', candidate: false },
  // The master side of a new terminal.
  { path: '/dev/ptmx', candidate: true },
])('$path: $candidate', ({ path, candidate }) => {
  const descriptor = openSync(path, 'r');
  try {
    expect(canDescriptorBeTerminal(descriptor)).toBe(candidate);
  } finally {
    closeSync(descriptor);
  }
});

test('a closed descriptor is left to the stream of the process', () => {
  const descriptor = openSync('package.json', 'r');
  closeSync(descriptor);
  expect(canDescriptorBeTerminal(descriptor)).toBe(true);
});
