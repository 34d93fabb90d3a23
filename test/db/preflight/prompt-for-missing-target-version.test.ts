import { expect, test } from 'vitest';
import { promptTargetVersion } from '../../../src/db/preflight/options.ts';
import { argsFrom, commandIo } from '../../fixtures/command-io.ts';
import { testHost } from '../../fixtures/host.ts';
import { preflightOptions } from './postgresql/facts.ts';

const options = preflightOptions();

function io(answer: string, more: { readonly interactive?: boolean; readonly yes?: true } = {}) {
  const base = commandIo(testHost());
  return {
    globals: argsFrom(more.yes === undefined ? {} : { yes: [''] }),
    prompts: { ...base.prompts, interactive: more.interactive ?? true, ask: async () => answer },
  };
}

test('an answer is the version, an empty one leaves it open', async () => {
  expect((await promptTargetVersion(io(' 17 '), 'postgresql', options)).targetVersion).toBe('17');
  expect((await promptTargetVersion(io(''), 'postgresql', options)).targetVersion).toBeUndefined();
});

test('nothing is asked without a terminal, with --yes, or when the version is given', async () => {
  expect(await promptTargetVersion(io('17', { interactive: false }), 'postgresql', options)).toBe(options);
  expect(await promptTargetVersion(io('17', { yes: true }), 'postgresql', options)).toBe(options);
  const known = preflightOptions({ targetVersion: '16' });
  expect(await promptTargetVersion(io('17'), 'redis', known)).toBe(known);
});
