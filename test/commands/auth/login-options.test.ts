import { execFileSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { closedPort } from '../../../scripts/free-port.mjs';
import { createDialog } from '../../../src/auth/session/dialog.ts';
import { loginRetries } from '../../../src/auth/session/hints.ts';
import { typedOptions } from '../../../src/auth/session/options.ts';
import { createArgs } from '../../../src/cli/command.ts';
import { globalOptions } from '../../../src/cli/command-table.ts';
import { parseLine } from '../../../src/cli/parse.ts';
import { authLogin } from '../../../src/commands/auth/login.ts';
import { commandTree } from '../../../src/commands/index.ts';
import type { CommandContext } from '../../../src/context.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { profileNamed } from '../../fixtures/profile.ts';
import { sandboxFor, send } from '../../sandbox/requests.ts';
import { createSandboxHost, runCloudctl, runLogin, stableText } from '../run-cloudctl.ts';

const login = ['auth', 'login', '--no-browser'];

describe('auth login', () => {
  it.each([
    [['--callback-listen', '0.0.0.0']],
    [['--callback-listen', '::']],
    [['--callback-listen', '10.0.0.2:9000']],
    [['--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', 'localhost', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', '0.0.0.0:0', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', '0.0.0.0:65536', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', '[0.0.0.0]:9000', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', ':9000', '--allow-peer', '172.17.0.1/32']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/16']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '0.0.0.0/0']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '::ffff:172.17.0.1/128']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', 'gateway']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/32', '--allow-peer', '']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/32', '--paste']],
    [['--callback-listen', '0.0.0.0', '--allow-peer', '172.17.0.1/32', '--with-token']],
  ])('%j is a usage error before anything listens', async (words) => {
    const ran = await runCloudctl(testHost(), [...login, ...words]);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expectGolden('auth', stableText(ran));
  });

  // macOS has no other address of 127.0.0.0/8 than 127.0.0.1.
  it.skipIf(process.platform === 'darwin')(
    'receives the redirect of an allowed peer at another address, and with --trace prints the peers that it refuses',
    async () => {
      const sandbox = await sandboxFor();
      const port = await closedPort();
      const words = ['--callback-listen', `127.0.0.3:${port}`, '--allow-peer', '127.0.0.5', '--trace'];
      const visit = async (url: string): Promise<void> => {
        const { origin, pathname, search } = new URL(url);
        const { headers } = await send(origin, `${pathname}${search}`);
        const redirect = new URL(headers.location ?? '');
        expect(redirect.origin).toBe(new URL(sandbox.ready.callback_url).origin);
        for (const localAddress of ['127.0.0.6', '127.0.0.6', '127.0.0.5']) {
          const target = `${redirect.pathname}${redirect.search}`;
          const sent = send(`http://127.0.0.3:${port}`, target, { headers: { host: redirect.host }, localAddress });
          if (localAddress === '127.0.0.5') expect((await sent).status).toBe(303);
          else await expect(sent).rejects.toThrow();
        }
      };
      const host = await createSandboxHost(sandbox, { env: { CLOUDCTL_CLIENT_SECRET: sandbox.ready.client_secret } });
      const ran = await runLogin(host, words, { visit });
      expect(ran.code).toBe(0);
      expect(ran.err.match(/127\.0\.0\.6/g)).toHaveLength(1);
    },
    20_000,
  );
});

const declared = authLogin.options ?? [];

async function occurrencesOf(words: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const root = { kind: 'group', summary: '', children: commandTree } as const;
  const parsed = await parseLine('cloudctl', root, words);
  if (parsed.kind !== 'run') throw new Error(`${words.join(' ')} is no command to run`);
  return parsed.occurrences;
}

/** The words that a shell passes to the program. */
function shellWords(command: string): readonly string[] {
  const script = `set -- ${command.replaceAll('`', '')}; shift; printf '%s\\n' "$@"`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
}

/** The retry commands of a login with these words, as `auth login` builds them. */
async function retryCommands(words: readonly string[]) {
  const occurrences = await occurrencesOf(['auth', 'login', ...words]);
  const args = createArgs([], [...declared, ...globalOptions], occurrences);
  const flow = args.value('flow') === 'implicit' ? 'implicit' : 'code';
  return loginRetries(
    profileNamed('work'),
    { flow, scope: args.value('scope'), team: args.value('team'), accountHint: args.value('account-hint') },
    undefined,
    typedOptions(args, args, declared),
  );
}

const team = '6f1c2ab4-52c7-4d9c-9f3a-2d1f0c5b7e10';

it.each([
  [],
  ['--token-params', 'body', '--no-pkce', '--credential-store', 'file'],
  ['--scope', 'api/.default', '--any-scope', '--team', team],
  ['--scope', 'https://a.example/read $(reboot)', '--any-scope', '--force'],
  ['--callback-listen', '[::]:9000', '--allow-peer', '172.17.0.1/32', '--allow-peer', '10.0.0.0/8'],
  ['--paste', '--no-browser', '--prompt', 'select_account'],
  ['--auth-url', 'https://a.example', '--base-url', 'https://b.example:8443'],
  ['--flow', 'implicit', '--no-browser'],
])('the command that repeats a login has all its options: %j', async (...words: string[]) => {
  const { sameRequest, acceptAnyScope } = await retryCommands(words);
  const typed = await occurrencesOf(['auth', 'login', ...words, '--profile', 'work']);
  expect(await occurrencesOf(shellWords(sameRequest))).toEqual(typed);
  expect(await occurrencesOf(shellWords(acceptAnyScope))).toEqual(new Map([...typed, ['accept-scope', ['']]]));
});

it('every option of auth login is repeated, or left out for a reason', async () => {
  const words = declared.flatMap(({ name, valueName, choices }) =>
    valueName === undefined
      ? [`--${name}`]
      : [`--${name}`, choices?.at(-1) ?? (name === 'account-hint' ? 'abcdef' : 'personal')],
  );
  const { sameRequest } = await retryCommands([...words, '--flow', 'code']);
  const repeated = await occurrencesOf(shellWords(sameRequest));
  const left = declared.map(({ name }) => name).filter((name) => !repeated.has(name));
  // The flow `code` is the default.
  expect(left).toEqual(['flow', 'with-token', 'login-timeout']);
});

it('a login with --prompt none is repeated without it, and the other flow without options that it does not accept', async () => {
  const commands = await retryCommands(['--prompt', 'none', '--account-hint', 'abcdef', '--team', team, '--no-pkce']);
  expect([...(await occurrencesOf(shellWords(commands.sameRequest))).keys()]).toEqual([
    'account-hint',
    'team',
    'no-pkce',
    'profile',
  ]);
  expect([...(await occurrencesOf(shellWords(commands.otherFlow))).keys()]).toEqual(['flow', 'no-pkce', 'profile']);
});

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
  const dialog = createDialog(context, args, {
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
  await dialog.reportRejectedPaste('other_login');
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
