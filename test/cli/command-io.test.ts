import { expect, it } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { quietForJson } from '../../src/cli/command-io.ts';
import { commandIo } from '../fixtures/command-io.ts';
import { testHost } from '../fixtures/host.ts';

it.each([
  ['json', ''],
  ['ndjson', 'a\nb\nwarning: c\n'],
  ['table', 'a\nb\nwarning: c\n'],
] as const)('notices of a batch with -o %s: %j', async (format, printed) => {
  const io = commandIo(testHost(), format);
  const { output } = quietForJson(io);
  await output.show('a');
  await output.note('b');
  await output.warn('c');
  expect(io.host.err()).toBe(printed);
  await output.error(new CliError('busy', 'd'));
  expect(io.host.err()).not.toBe(printed);
});
