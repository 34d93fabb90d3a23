import { isKnownScope, isSameScope } from '../../auth/oauth/index.ts';
import {
  type LoginRequest,
  logIn,
  readStatus,
  requireOwnSession,
  type SessionStatus,
} from '../../auth/session/index.ts';
import { usageError } from '../../base/errors.ts';
import { isTeam } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import type { CommandSpec, OptionSpec, ParsedArgs } from '../../cli/command.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/values.ts';
import type { ResolvedProfileSettings } from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { isCi } from '../../platform/browser.ts';
import { confirmSessionReplacement } from './confirm-replacement.ts';
import { warnOfAccessTokenVariable } from './environment-token.ts';
import { createLoginDialog } from './login-dialog.ts';
import {
  callbackListenOptionSpecs,
  exposedListenerWarning,
  formatTypedLoginOptions,
  readCallbackListenOptions,
} from './login-options.ts';
import { reportLogin, saveLoginOptionsInProfile } from './login-report.ts';
import { loginWithToken } from './login-with-token.ts';
import { profileSettingsOptionSpecs, readProfileSettingsFromOptions } from './profile-options.ts';
import { resolveOrPromptForLoginSettings } from './resolve-or-prompt-for-login-settings.ts';
import { loginSessionFields } from './session-view.ts';

const options: readonly OptionSpec[] = [
  {
    name: 'flow',
    valueName: 'FLOW',
    description: 'authorization flow: code, or implicit for applications without a secret (default: code)',
    choices: ['code', 'implicit'],
  },
  {
    name: 'scope',
    valueName: 'SCOPE',
    description: 'scope to request: read or "read write" (default: read)',
    completion: ['read', 'read write'],
  },
  { name: 'any-scope', description: 'accept any value of --scope, for servers with other scopes' },
  {
    name: 'prompt',
    valueName: 'PROMPT',
    description: 'none: no page if the browser is signed in; select_account: always choose the account',
    choices: ['none', 'select_account'],
  },
  {
    name: 'account-hint',
    valueName: '6HEX',
    description: 'first 6 characters of the UUID that the account must have',
  },
  {
    name: 'team',
    valueName: 'TEAM',
    description: 'context that the session must have: UUID of a team, or personal',
    completion: ['personal'],
  },
  { name: 'no-browser', description: 'print the authorization URL without opening a browser' },
  { name: 'paste', description: 'paste the address of the last page instead of listening on a port' },
  {
    name: 'with-token',
    description: 'store an access token from standard input, or from a hidden prompt; it cannot be renewed',
  },
  ...callbackListenOptionSpecs,
  { name: 'login-timeout', valueName: 'DURATION', description: 'time limit of the login in the browser (default: 5m)' },
  { name: 'accept-scope', description: 'keep the session if the granted scope differs from the requested one' },
  { name: 'force', description: 'replace a valid session without confirmation' },
  ...profileSettingsOptionSpecs,
];

export const authLoginCommand: CommandSpec<CommandContext> = {
  description:
    'Opens the sign-in page in the browser, receives the redirect on the loopback interface, exchanges the authorization code and stores the session in the keychain of the operating system. Instead of the redirect you can paste the address of the last page, or `CODE STATE`; the first with the right state is used.',
  options,
  examples: [
    { text: 'Log in with read access', command: 'cloudctl auth login' },
    { text: 'Log in with read and write access', command: 'cloudctl auth login --scope "read write"' },
    {
      text: 'Log in inside a container that publishes port 8765 on 127.0.0.1 of its host',
      command: 'cloudctl auth login --callback-listen 0.0.0.0 --allow-peer 172.17.0.1/32',
    },
    { text: 'Log in on a server, with a browser on another machine', command: 'cloudctl auth login --paste' },
    {
      text: 'Store an access token that was issued elsewhere, from a file',
      command: 'cloudctl auth login --with-token < token.txt',
    },
  ],
  fields: loginSessionFields,
  run: warnOfAccessTokenVariable(async (context, args) => {
    const typed = readProfileSettingsFromOptions(args, options);
    requireOwnSession(context.sessionSettings(typed));
    checkOptions(context.sessionSettings(typed), args);
    const listenAddress = readCallbackListenOptions(args);
    if (args.has('with-token')) return loginWithToken(context, args, typed);
    const isUnattended = requirePerson(context, args);
    const limitText = args.value('login-timeout') ?? '5m';
    const limit = parseDurationToMillisecondsOrThrow(limitText, '--login-timeout', 1000);
    const login = await resolveOrPromptForLoginSettings(context, typed);
    const { settings } = login;
    const status = await readStatus(context, settings);
    const request: LoginRequest = {
      flow: settings.values.flow ?? 'code',
      scope: await chooseScope(context, args, settings, status),
      prompt: args.value('prompt'),
      accountHint: args.value('account-hint'),
      team: args.value('team'),
      pkce: !args.has('no-pkce') && settings.values.pkce !== false,
      listen: !args.has('paste'),
      listenAddress,
      limit,
      profileFlow: context.sessionSettings().values.flow,
      typed: formatTypedLoginOptions(args, context.globals, options),
    };
    if (!(await confirmSessionReplacement(context, settings, status, args))) {
      await context.output.note(`The session of profile ${settings.profileName} was not changed.`);
      return 0;
    }
    const warning = listenAddress === undefined ? undefined : exposedListenerWarning(listenAddress);
    if (warning !== undefined) await context.output.warn(warning);
    if (request.flow === 'implicit') await context.output.warn(implicitFlowWarning);
    const run = await context.sessionRun(settings, login.binding);
    const dialog = createLoginDialog(context, args, {
      profile: settings.profile,
      listen: request.listen,
      listenAddress,
      limit: limitText,
      isUnattended,
    });
    await logIn(run, request, {
      ...dialog,
      report: async (result) => {
        await saveLoginOptionsInProfile(context, settings, typed);
        await reportLogin(context, settings, result);
      },
    });
    return 0;
  }),
};

const implicitFlowWarning =
  'the implicit flow issues no refresh token, and its access token is part of a browser URL; the code flow is safer';

/**
 * In a CI job, and without a terminal where no input is wanted, no user sees the URL, so the login would wait until its time limit
 * expires. Returns true if the login depends on the program in BROWSER, which is started without a terminal then.
 */
function requirePerson({ host, globals }: CommandContext, args: ParsedArgs): boolean {
  const { env, stdin, stderr } = host;
  if (stdin.isTTY === true || stderr.isTTY || args.has('no-browser') || args.has('paste')) return false;
  const browser = env.BROWSER?.trim() ?? '';
  if (globals.has('no-input')) {
    // With --callback-listen the browser is on another machine.
    if (browser !== '' && browser !== 'none' && !args.has('callback-listen')) return true;
    throw usageError(
      'cannot log in: --no-input was given, and neither standard input nor standard error is a terminal',
      'add `--no-browser`, which prints the URL and waits, or `--paste`, which reads `CODE STATE` from standard input',
    );
  }
  if (!isCi(env) || browser !== '') return false;
  throw usageError(
    'cannot log in: CI is set, and neither standard input nor standard error is a terminal',
    'set CLOUDCTL_ACCESS_TOKEN to an access token, or log in elsewhere; `--no-browser` prints the URL and waits',
  );
}

/** Refuses options that contradict each other before a page is opened. */
function checkOptions(settings: ResolvedProfileSettings, args: ParsedArgs): void {
  const { flow, scope } = settings.values;
  const hint = args.value('account-hint');
  if (scope !== undefined && !isKnownScope(scope) && !args.has('any-scope')) {
    throw usageError(
      `unknown scope "${sanitizeLine(scope)}"`,
      'use `--scope read` or `--scope "read write"`',
      '--any-scope accepts scopes of other servers',
    );
  }
  const team = args.value('team');
  if (team !== undefined && !isTeam(team))
    throw usageError('--team is neither a UUID nor personal', 'pass the UUID of the team, or `--team personal`');
  if (team !== undefined && flow === 'implicit')
    throw usageError(
      'cannot use --team with the implicit flow',
      'remove `--team`, or use `--flow code`',
      'the response of the implicit flow names no account',
    );
  if (flow === 'implicit' && args.value('prompt') !== undefined)
    throw usageError('cannot use --prompt with the implicit flow', 'remove `--prompt`');
  if (hint !== undefined && flow === 'implicit')
    throw usageError(
      'cannot use --account-hint with the implicit flow',
      'remove `--account-hint`, or use `--flow code`',
      'the response of the implicit flow names no account',
    );
  if (hint !== undefined && !/^[0-9a-f]{6}$/i.test(hint))
    throw usageError('--account-hint is not 6 hexadecimal digits', 'pass the first 6 characters of the account UUID');
}

/** Without `--scope` a new login requests the scope of the existing session, so that it neither removes permissions nor adds any. */
async function chooseScope(
  { prompts }: CommandContext,
  args: ParsedArgs,
  { values }: ResolvedProfileSettings,
  status: SessionStatus | undefined,
): Promise<string | undefined> {
  const kept = status?.report?.scope ?? undefined;
  if (args.value('scope') !== undefined || kept === undefined || isSameScope(kept, values.scope)) return values.scope;
  if (values.scope !== undefined && prompts.interactive) {
    const message = `The session has the scope "${sanitizeLine(kept)}", the profile has "${sanitizeLine(values.scope)}". Keep the scope of the session?`;
    if (!(await prompts.confirm({ message, default: true, option: '--scope' }))) return values.scope;
  }
  return isSameScope(kept, 'read') ? undefined : kept;
}
