import { expect, it } from 'vitest';
import { buildSharedStoreMachineName } from '../../src/session/machine-name.ts';

it.each([
  [undefined, 'ci-7.example.com', 'ci-7.example.com#id'],
  ['runner 1,2', 'host', 'runner-1-2#id'],
  ['', 'host', 'machine#id'],
  ['a'.repeat(100), 'host', `${'a'.repeat(64)}#id`],
])('the name %j on host %j is %j', (given, host, expected) => {
  expect(buildSharedStoreMachineName(given, host, 'id')).toBe(expected);
});
