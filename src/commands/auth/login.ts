import type { CommandSpec, OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { requireDuration } from '../../cli/duration.ts';
import { readLines } from '../../cli/read-lines.ts';
import { sanitizeLine } from '../../cli/sanitize.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { isKnownScope } from '../../oauth/scope.ts';
import { tryAcquireLock } from '../../platform/file-lock.ts';
import { detectRuntimeEnvironment as surroundingsOf } from '../../platform/runtime-environment.ts';
import { writeAccount } from '../../session/account.ts';
import { type LoginAddresses, performLogin as runLogin } from '../../session/login.ts';
import { canOpenBrowser, loginInstructions as invitationText } from '../../session/login-instructions.ts';
import type { LoginRequest } from '../../session/login-request.ts';
import { isSpecServer } from '../../session/session-binding.ts';
import { sessionState } from '../../session/session-report.ts';
import { loadStoredSession } from '../../session/stored-session.ts';
import { loginCommands } from '../../session/suggested-commands.ts';
import { completeLoginSettings, type LoginSettings } from './complete-login-settings.ts';
import { reportLogin, saveTypedOptions } from './login-report.ts';
import { serverOptions, settingOverrides } from './profile-options.ts';

const options: readonly OptionSpec[] = [
  {
    name: 'flow',
    valueName: 'FLOW',
    description: 'code, or implicit for applications that cannot keep a secret',
    choices: ['code', 'implicit'],
  },
  { name: 'scope', valueName: 'SCOPE', description: 'read (the default) or "read write"' },
  { name: 'any-scope', description: 'let any scope pass, for servers that know others' },
  {
    name: 'prompt',
    valueName: 'PROMPT',
    description: 'none: without a page if the browser is signed in; select_account: always ask',
    choices: ['none', 'select_account'],
  },
  {
    name: 'account-hint',
    valueName: '6HEX',
    description: 'with --prompt none: the first 6 characters of the expected account UUID',
  },
  { name: 'no-browser', description: 'print the address and open nothing' },
  { name: 'paste', description: 'no listener; paste the address of the page you end on' },
  { name: 'login-timeout', valueName: 'DURATION', description: 'how long to wait for the browser (5m)' },
  { name: 'accept-scope', description: 'keep the session even if another scope was granted' },
  { name: 'force', description: 'do not ask before replacing a session that is still good' },
  ...serverOptions,
];

export const authLoginCommand: CommandSpec<Context> = {
  description:
    'Opens the sign-in page, waits for the redirect on the loopback interface, exchanges the code and keeps the session in the keychain of the operating system. The redirect, the pasted address of the page you end on and a pasted `CODE STATE` race each other; the first with the right state wins.',
  options,
  examples: [
    { text: 'Log in to read', command: 'cloudctl auth login' },
    { text: 'Log in to create droplets as well', command: 'cloudctl auth login --scope "read write"' },
    { text: 'On a server, with the browser elsewhere', command: 'cloudctl auth login --paste' },
  ],
  run: async (context, words) => {
    const typed = settingOverrides(words, options);
    checkOptions(context.settings(typed), words);
    const limitText = words.value('login-timeout') ?? '5m';
    const limit = requireDuration(limitText, '--login-timeout', 1000);
    const complete = await completeLoginSettings(context, typed);
    const { settings, client, binding } = complete;
    const request: LoginRequest = {
      flow: settings.values.flow ?? 'code',
      scope: settings.values.scope,
      prompt: words.value('prompt'),
      accountHint: words.value('account-hint'),
      pkce: !words.has('no-pkce') && settings.values.pkce !== false,
      listen: !words.has('paste'),
      limit,
    };
    if (!(await confirmReplacement(context, complete, words))) {
      await context.output.note(`The session of profile ${settings.profileName} was kept.`);
      return 0;
    }
    if (request.flow === 'implicit') {
      await context.output.warn(
        'the implicit flow gives no refresh token, and its access token passes through the address bar; the code flow is safer',
      );
    }
    const { host, output, prompts } = context;
    const place = context.profilePaths(settings.profileName);
    const store = context.store(settings);
    const terminal = host.stdin.isTTY === true && host.stderr.isTTY;
    const pasting = terminal || words.has('paste');
    const around = surroundingsOf(host.env, host.platform);
    const open = !words.has('no-browser') && request.listen && canOpenBrowser(around, terminal, host.env.BROWSER);
    await runLogin(
      {
        profile: settings.profileName,
        binding,
        client,
        callbackUrls: settings.values.callback_urls ?? [],
        issuer: settings.values.issuer,
        store,
        createSender: () => context.send({ fresh: true }),
        lock: () => context.lock(place.lock),
        tryLoginLock: () => tryAcquireLock(place.loginLock),
        clock: host.clock,
        random: host.random,
        signals: host.signals,
        requireSafe: context.requireSafe,
        sanitize: (text) => sanitizeLine(text, 300),
        // What was typed is not in the profile, and has to be typed again.
        isSpecServer: () => isSpecServer(host.folders, settings.profileName, binding.authOrigin),
        loginCommands: loginCommands(settings.profileName, request, context.settings().values.flow),
        onOtherScope: words.has('accept-scope')
          ? 'accept'
          : prompts.interactive
            ? (requested, granted, signal) =>
                prompts.confirm({
                  message: `The granted scope is "${sanitizeLine(granted)}", you asked for "${requested}". Keep this session?`,
                  option: '--accept-scope',
                  signal,
                })
            : 'refuse',
        writeAccount: (account) => writeAccount(host.folders.config, settings.profileName, account),
        showInstructions: async (way: LoginAddresses) => {
          const opened = open && way.startUrl !== undefined && (await host.browser.open(way.startUrl));
          const text = invitationText({
            profile: settings.profileName,
            ...way,
            runtimeEnvironment: around,
            opened,
            listening: request.listen,
            pasting,
            limit: limitText,
          });
          await host.stderr.write(`${text}\n`);
        },
        pastedLines: (signal) =>
          pasting
            ? readLines(
                { input: host.stdin, output: host.screen, onInterrupt: () => process.kill(process.pid, 'SIGINT') },
                signal,
              )
            : noPastedLines(),
        reportRejectedPaste: (kind) =>
          output.warn(
            kind === 'incomplete'
              ? 'a code alone cannot be checked: paste the whole address, which carries the state as well'
              : 'that is not the address of the last page: paste it whole, with everything after the "?" or "#"',
          ),
        report: async (result) => {
          await saveTypedOptions(context, settings, typed);
          await reportLogin(context, settings, result);
        },
      },
      request,
    );
    return 0;
  },
};

/** Everything that can be known to be wrong before a page is opened. */
function checkOptions(settings: ProfileSettings, words: ParsedArgs): void {
  const { flow, scope } = settings.values;
  const hint = words.value('account-hint');
  if (scope !== undefined && !isKnownScope(scope) && !words.has('any-scope')) {
    throw usageError(
      `scope "${sanitizeLine(scope)}" is unknown`,
      'use `--scope read` or `--scope "read write"`',
      '`--any-scope` lets it pass, for servers that know other scopes',
    );
  }
  if (flow === 'implicit' && words.value('prompt') !== undefined)
    throw usageError('cannot use --prompt with the implicit flow', 'leave `--prompt` out');
  if (hint !== undefined && words.value('prompt') !== 'none')
    throw usageError('cannot use --account-hint without --prompt none', 'add `--prompt none`');
  if (hint !== undefined && !/^[0-9a-f]{6}$/i.test(hint))
    throw usageError('--account-hint is not 6 hexadecimal digits', 'give the first 6 characters of the account UUID');
}

/** A session that is still good is replaced only knowingly; a script that says `auth login` knows. */
async function confirmReplacement(
  context: Context,
  { settings, binding }: LoginSettings,
  words: ParsedArgs,
): Promise<boolean> {
  if (words.has('force') || !context.prompts.interactive) return true;
  const stored = await loadStoredSession(context.store(settings), binding);
  if (stored.kind !== 'found' || sessionState(stored.record, context.host.clock.now()) === 'needs_login') return true;
  return context.prompts.confirm({
    message: `Profile ${settings.profileName} is logged in already. Log in again?`,
    default: true,
    option: '--force',
  });
}

async function* noPastedLines(): AsyncGenerator<string> {}
