import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { createLoginDialog } from '../../../src/commands/auth/login.ts';
import type { CommandContext } from '../../../src/context.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';

/** A dialog with these options typed. */
function dialogWith(options: readonly string[], isTerminal: boolean, interactive = isTerminal) {
  const host = testHost(isTerminal ? { terminal: 80 } : {});
  const [warnings, questions]: [string[], string[]] = [[], []];
  const context = {
    host,
    globals: { has: () => false },
    output: { warn: async (text: string) => void warnings.push(text) },
    prompts: {
      interactive,
      confirm: async ({ message }: { readonly message: string }) => {
        questions.push(message);
        return true;
      },
    },
  } as unknown as CommandContext;
  const args = { has: (name: string) => options.includes(name) } as never;
  const dialog = createLoginDialog(context, args, {
    profile: profileNamed('default'),
    listen: !options.includes('paste'),
    limit: '5m',
  });
  return { host, dialog, warnings, questions };
}

it('another scope is accepted by option, asked about in a terminal, and refused elsewhere', async () => {
  expect(dialogWith(['accept-scope'], true).dialog.onOtherScope).toBe('accept');
  expect(dialogWith([], false).dialog.onOtherScope).toBe('refuse');
  const { dialog, questions } = dialogWith([], true);
  if (typeof dialog.onOtherScope !== 'function') throw new Error('no question');
  expect(await dialog.onOtherScope('read write', 're\u001b[31mad', new AbortController().signal)).toBe(true);
  expectGolden('auth', questions.join('\n'));
});

it('pasted lines are read in a terminal and with --paste', async () => {
  for (const [options, isTerminal, expected] of [
    [[], false, []],
    [['paste'], false, ['a line']],
  ] as const) {
    const { host, dialog } = dialogWith(options, isTerminal);
    if (host.stdin instanceof PassThrough) host.stdin.end('a line\n');
    const lines: string[] = [];
    for await (const line of dialog.pastedLines(AbortSignal.timeout(2_000))) lines.push(line);
    expect(lines).toEqual(expected);
  }
});

it('a rejected paste is a warning that names what to paste', async () => {
  const { dialog, warnings } = dialogWith([], true);
  await dialog.reportRejectedPaste('incomplete');
  await dialog.reportRejectedPaste('unreadable');
  expectGolden('auth', warnings.join('\n'));
});

it('without a terminal no browser is opened', async () => {
  const { host, dialog } = dialogWith([], false);
  const addresses = {
    authorizationUrl: 'https://cloud.example.com/v1/oauth/authorize',
    callbackUrl: 'http://127.0.0.1:8765/callback',
    startUrl: 'http://127.0.0.1:8765/start/x',
  };
  await dialog.showInstructions(addresses, { isContinued: false });
  expect(host.opened).toEqual([]);
  expect(host.err()).toContain('\nhttps://cloud.example.com/v1/oauth/authorize\n');
});

it('a request that is too long is a warning, once for each part', () => {
  const { dialog, warnings } = dialogWith([], false);
  for (const part of ['body', 'headers', 'body', 'headers'] as const) dialog.onOversizedRequest?.(part);
  expect(warnings).toHaveLength(2);
  expectGolden('auth', warnings.join('\n'));
});

it.each([
  ['in a terminal', true],
  ['without a terminal', false],
])('a refused request of another user is a warning, once for the login: %s', (_, isTerminal) => {
  const { host, dialog, warnings } = dialogWith([], isTerminal);
  for (const address of ['127.0.0.1', '127.0.0.1', '::1']) dialog.onRefusedPeer?.(address, 'user');
  expect(warnings).toHaveLength(1);
  expectGolden('auth', warnings.join('\n'));
  dialog.onRefusedPeer?.('10.0.0.1', 'address');
  expect([warnings.length, host.err()]).toEqual([1, '']);
});
