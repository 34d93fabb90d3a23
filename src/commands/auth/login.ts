import type { CommandSpec, OptionSpec, Words } from '../../cli/command.ts';
import { duration } from '../../cli/duration.ts';
import { readLines } from '../../cli/lines.ts';
import { clean } from '../../cli/sanitize.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { usage } from '../../errors.ts';
import { isKnownScope } from '../../oauth/scope.ts';
import { surroundings as surroundingsOf } from '../../platform/environment.ts';
import { tryAcquire } from '../../platform/lock.ts';
import { writeAccount } from '../../session/account.ts';
import { loginAgain } from '../../session/command-for.ts';
import { readOnce } from '../../session/current.ts';
import { type Invitation, login as runLogin } from '../../session/login.ts';
import type { LoginRequest } from '../../session/login-request.ts';
import { invitation as invitationText, mayOpenBrowser } from '../../session/login-words.ts';
import { stateOf } from '../../session/status.ts';
import { isOfSpec } from '../../session/wiring.ts';
import { type Complete, completeSettings } from './complete.ts';
import { keepTyped, reportLogin } from './login-report.ts';
import { serverOptions, typedOptions } from './profile-options.ts';

const options: readonly OptionSpec[] = [
  {
    name: 'flow',
    value: 'FLOW',
    description: 'code, or implicit for applications that cannot keep a secret',
    choices: ['code', 'implicit'],
  },
  { name: 'scope', value: 'SCOPE', description: 'read (the default) or "read write"' },
  { name: 'any-scope', description: 'let any scope pass, for servers that know others' },
  {
    name: 'prompt',
    value: 'PROMPT',
    description: 'none: without a page if the browser is signed in; select_account: always ask',
    choices: ['none', 'select_account'],
  },
  {
    name: 'account-hint',
    value: '6HEX',
    description: 'with --prompt none: the first 6 characters of the expected account UUID',
  },
  { name: 'no-browser', description: 'print the address and open nothing' },
  { name: 'paste', description: 'no listener; paste the address of the page you end on' },
  { name: 'login-timeout', value: 'DURATION', description: 'how long to wait for the browser (5m)' },
  { name: 'accept-scope', description: 'keep the session even if another scope was granted' },
  { name: 'force', description: 'do not ask before replacing a session that is still good' },
  ...serverOptions,
];

export const login: CommandSpec<Context> = {
  summary: 'log in through the browser',
  description:
    'Opens the sign-in page, waits for the redirect on the loopback interface, exchanges the code and keeps the session in the keychain of the operating system. The redirect, the pasted address of the page you end on and a pasted `CODE STATE` race each other; the first with the right state wins.',
  options,
  examples: [
    { text: 'Log in to read', command: 'cloudctl auth login' },
    { text: 'Log in to create droplets as well', command: 'cloudctl auth login --scope "read write"' },
    { text: 'On a server, with the browser elsewhere', command: 'cloudctl auth login --paste' },
  ],
  run: async (context, words) => {
    const typed = typedOptions(words, options);
    checkWords(context.settings(typed), words);
    const limitText = words.text('login-timeout') ?? '5m';
    const limit = duration(limitText, '--login-timeout', 1000);
    const complete = await completeSettings(context, typed);
    const { settings, client, binding } = complete;
    const request: LoginRequest = {
      flow: settings.values.flow ?? 'code',
      scope: settings.values.scope,
      prompt: words.text('prompt'),
      accountHint: words.text('account-hint'),
      pkce: !words.flag('no-pkce') && settings.values.pkce !== false,
      listen: !words.flag('paste'),
      limit,
    };
    if (!(await mayReplace(context, complete, words))) {
      await context.output.note(`The session of profile ${settings.profileName} was kept.`);
      return 0;
    }
    if (request.flow === 'implicit') {
      await context.output.warn(
        'the implicit flow gives no refresh token, and its access token passes through the address bar; the code flow is safer',
      );
    }
    const { host, output, prompts } = context;
    const place = context.place(settings.profileName);
    const store = context.store(settings);
    const terminal = host.stdin.isTTY === true && host.stderr.isTTY;
    const pasting = terminal || words.flag('paste');
    const around = surroundingsOf(host.env, host.platform);
    const open = !words.flag('no-browser') && request.listen && mayOpenBrowser(around, terminal, host.env.BROWSER);
    await runLogin(
      {
        profile: settings.profileName,
        binding,
        client,
        callbackUrls: settings.values.callback_urls ?? [],
        issuer: settings.values.issuer,
        store,
        send: () => context.send({ fresh: true }),
        lock: () => context.lock(place.lock),
        tryLoginLock: () => tryAcquire(place.loginLock),
        clock: host.clock,
        random: host.random,
        signals: host.signals,
        requireSafe: context.requireSafe,
        clean: (text) => clean(text, 300),
        // What was typed is not in the profile, and has to be typed again.
        isOfSpec: () => isOfSpec(host.folders, settings.profileName, binding.authOrigin),
        login: loginAgain(settings.profileName, request, context.settings().values.flow),
        onOtherScope: words.flag('accept-scope')
          ? 'accept'
          : prompts.interactive
            ? (requested, granted, signal) =>
                prompts.confirm({
                  message: `The granted scope is "${clean(granted)}", you asked for "${requested}". Keep this session?`,
                  option: '--accept-scope',
                  signal,
                })
            : 'refuse',
        writeAccount: (account) => writeAccount(host.folders.config, settings.profileName, account),
        invite: async (way: Invitation) => {
          const opened = open && way.startUrl !== undefined && (await host.browser.open(way.startUrl));
          const text = invitationText({
            profile: settings.profileName,
            ...way,
            surroundings: around,
            opened,
            listening: request.listen,
            pasting,
            limit: limitText,
          });
          await host.stderr.write(`${text}\n`);
        },
        pastes: (signal) =>
          pasting
            ? readLines(
                { input: host.stdin, output: host.screen, onInterrupt: () => process.kill(process.pid, 'SIGINT') },
                signal,
              )
            : nothing(),
        notePaste: (kind) =>
          output.warn(
            kind === 'incomplete'
              ? 'a code alone cannot be checked: paste the whole address, which carries the state as well'
              : 'that is not the address of the last page: paste it whole, with everything after the "?" or "#"',
          ),
        report: async (result) => {
          await keepTyped(context, settings, typed);
          await reportLogin(context, settings, result);
        },
      },
      request,
    );
    return 0;
  },
};

/** Everything that can be known to be wrong before a page is opened. */
function checkWords(settings: Settings, words: Words): void {
  const { flow, scope } = settings.values;
  const hint = words.text('account-hint');
  if (scope !== undefined && !isKnownScope(scope) && !words.flag('any-scope')) {
    throw usage(
      `scope "${clean(scope)}" is unknown`,
      'use `--scope read` or `--scope "read write"`',
      '`--any-scope` lets it pass, for servers that know other scopes',
    );
  }
  if (flow === 'implicit' && words.text('prompt') !== undefined)
    throw usage('cannot use --prompt with the implicit flow', 'leave `--prompt` out');
  if (hint !== undefined && words.text('prompt') !== 'none')
    throw usage('cannot use --account-hint without --prompt none', 'add `--prompt none`');
  if (hint !== undefined && !/^[0-9a-f]{6}$/i.test(hint))
    throw usage('--account-hint is not 6 hexadecimal digits', 'give the first 6 characters of the account UUID');
}

/** A session that is still good is replaced only knowingly; a script that says `auth login` knows. */
async function mayReplace(context: Context, { settings, binding }: Complete, words: Words): Promise<boolean> {
  if (words.flag('force') || !context.prompts.interactive) return true;
  const stored = await readOnce(context.store(settings), binding);
  if (stored.kind !== 'found' || stateOf(stored.record, context.host.clock.now()) === 'needs_login') return true;
  return context.prompts.confirm({
    message: `Profile ${settings.profileName} is logged in already. Log in again?`,
    default: true,
    option: '--force',
  });
}

async function* nothing(): AsyncGenerator<string> {}
