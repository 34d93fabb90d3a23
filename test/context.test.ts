import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createArgs } from '../src/cli/command.ts';
import { globalOptions } from '../src/cli/command-table.ts';
import { createContext } from '../src/context.ts';
import { testHost } from './fixtures/host.ts';

it('a question is not drawn over by the progress of what led to it', async () => {
  const host = testHost({ terminal: 80 });
  const { progress, prompts } = await createContext(host, createArgs([], globalOptions, new Map()));
  await progress.show('37 droplets');
  while (!host.err().includes('37 droplets')) await after(5);
  const asking = new AbortController();
  const answer = prompts.confirm({ message: 'Log in again?', signal: asking.signal }).catch(() => false);
  await after(250);
  const drawn = host.err();
  await after(250);
  expect(host.err()).toBe(drawn);
  asking.abort();
  expect(await answer).toBe(false);
  await progress.stop();
});
