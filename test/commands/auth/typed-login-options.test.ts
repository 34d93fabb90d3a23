import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { loginRetries } from '../../../src/auth/session/hints.ts';
import { createParsedArgs } from '../../../src/cli/command.ts';
import { globalOptions } from '../../../src/cli/command-table.ts';
import { parseCommandLine } from '../../../src/cli/parse.ts';
import { authLoginCommand, formatTypedLoginOptions } from '../../../src/commands/auth/login.ts';

import { commandTree } from '../../../src/commands/index.ts';
import { profileNamed } from '../../fixtures/profile.ts';

const declared = authLoginCommand.options ?? [];

async function occurrencesOf(words: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const root = { kind: 'group', summary: '', children: commandTree } as const;
  const parsed = await parseCommandLine('cloudctl', root, words);
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
  const args = createParsedArgs([], [...declared, ...globalOptions], occurrences);
  const flow = args.value('flow') === 'implicit' ? 'implicit' : 'code';
  return loginRetries(
    profileNamed('work'),
    { flow, scope: args.value('scope'), team: args.value('team') },
    undefined,
    formatTypedLoginOptions(args, args, declared),
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
    valueName === undefined ? [`--${name}`] : [`--${name}`, choices?.at(-1) ?? 'personal'],
  );
  const { sameRequest } = await retryCommands([...words, '--flow', 'code']);
  const repeated = await occurrencesOf(shellWords(sameRequest));
  const left = declared.map(({ name }) => name).filter((name) => !repeated.has(name));
  // The flow `code` is the default; a hint of an account belongs to `--prompt none`.
  expect(left).toEqual(['flow', 'account-hint', 'with-token', 'login-timeout']);
});

it('a login with --prompt none is repeated without it, and the other flow without options that it does not accept', async () => {
  const commands = await retryCommands(['--prompt', 'none', '--account-hint', 'abcdef', '--team', team, '--no-pkce']);
  expect([...(await occurrencesOf(shellWords(commands.sameRequest))).keys()]).toEqual(['team', 'no-pkce', 'profile']);
  expect([...(await occurrencesOf(shellWords(commands.otherFlow))).keys()]).toEqual(['flow', 'no-pkce', 'profile']);
});
