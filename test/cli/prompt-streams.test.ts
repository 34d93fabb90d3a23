import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createColorlessPromptOutput, runCancellablePrompt } from '../../src/cli/prompts.ts';
import { keyboard } from './keyboard.ts';

test('without colour the same is drawn, and the cursor still moves', async () => {
  const terminal = keyboard();
  const plain = createColorlessPromptOutput(terminal.streams.output);
  plain.write('\u001b[1m\u001b[38;5;2mbold\u001b[0m\u001b[2K');
  await terminal.until('bold');
  expect(terminal.drawn()).toBe('bold\u001b[2K');
  expect(plain.columns).toBe(80);
});

test('an input that is over is not read from', async () => {
  const input = new PassThrough();
  input.destroy();
  const never = runCancellablePrompt(input, undefined, () => Promise.reject(new Error('must not be asked')));
  await expect(never).rejects.toMatchObject({ code: 'cancelled' });
});

test('an error of the prompt other than a cancellation is thrown unchanged', async () => {
  const fault = new Error('a bug');
  await expect(runCancellablePrompt(new PassThrough(), undefined, () => Promise.reject(fault))).rejects.toBe(fault);
});

test('nothing stays behind on the input', async () => {
  const input = new PassThrough();
  const before = input.eventNames().length;
  await runCancellablePrompt(input, undefined, async () => 1);
  expect(input.eventNames().length).toBe(before);
});
