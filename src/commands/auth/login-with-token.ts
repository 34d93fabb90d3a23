import { type AccountDetails, fetchAccountOfToken } from '../../api/account-details.ts';
import { createApiClient } from '../../api/client.ts';
import { hasTokenSyntax } from '../../auth/oauth/index.ts';
import { readStatus, refusedHints, requireAvailable, storeGivenToken } from '../../auth/session/index.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { compareAccounts, describeTeam } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { Secret } from '../../base/secret.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { nearestWord } from '../../cli/values.ts';
import {
  type Binding,
  findBinding,
  type ProfileSettingsFromOptions,
  type ResolvedProfileSettings,
  requireNamedProfileExists,
} from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { confirmSessionReplacement, reportLogin, saveLoginOptionsInProfile } from './login-report.ts';

import { missingProfileSettingsError } from './resolve-or-prompt-for-login-settings.ts';

/** Implements `auth login --with-token`: stores an access token that was issued elsewhere, after the resource API has accepted it. */
export async function loginWithToken(
  context: CommandContext,
  args: ParsedArgs,
  typed: ProfileSettingsFromOptions,
): Promise<ExitCode> {
  refuseBrowserOptions(args);
  const settings = context.sessionSettings(typed);
  const binding = requireBinding(context, settings);
  context.requireSafe();
  const status = await readStatus(context, settings);
  if (status !== undefined) requireAvailable(status.stored, settings.profile);
  if (!(await confirmSessionReplacement(context, settings, status, args))) {
    await context.output.note(`The session of profile ${settings.profileName} was not changed.`);
    return 0;
  }
  const accessToken = await readAccessToken(context);
  const account = await readAccountOf(context, settings, binding, accessToken);
  requireTeam(account, args.value('team'));
  const run = await context.sessionRun(settings, binding);
  await storeGivenToken(run, { accessToken, account, scope: args.value('scope') ?? '' }, async (result) => {
    await saveLoginOptionsInProfile(context, settings, typed);
    await reportLogin(context, settings, result);
  });
  return 0;
}

/** With `--with-token`, options of a login in the browser would have no effect, so they are refused. */
function refuseBrowserOptions(args: ParsedArgs): void {
  const names = ['flow', 'prompt', 'account-hint', 'no-browser', 'paste', 'login-timeout', 'accept-scope'];
  const typed = names.find((name) => args.has(name));
  if (typed !== undefined) throw usageError(`cannot use --${typed} with --with-token`, `remove \`--${typed}\``);
}

function requireBinding(context: CommandContext, settings: ResolvedProfileSettings): Binding {
  const binding = findBinding(settings);
  if (binding !== undefined) return binding;
  requireNamedProfileExists(settings, context.config(), nearestWord);
  const keys = (['auth_url', 'base_url'] as const).filter((key) => settings.values[key] === undefined);
  throw missingProfileSettingsError(keys, settings.profile, 'a session is bound to its servers');
}

async function readAccessToken({ host, prompts }: CommandContext): Promise<Secret> {
  const notVisible = 'is not 1 to 65536 visible ASCII characters';
  if (host.stdin.isTTY === true)
    return prompts.askSecret({
      name: 'access token',
      option: '--with-token < token.txt',
      message: 'Access token (hidden)',
      validate: (written) => hasTokenSyntax(written) || `The access token ${notVisible}.`,
    });
  let written = '';
  for await (const chunk of host.stdin) {
    written += String(chunk);
    if (written.length > maxInputLength) break;
  }
  if (hasTokenSyntax(written.trim())) return new Secret(written.trim());
  throw usageError(
    `the access token on standard input ${notVisible}`,
    'redirect a file that contains only the token: `cloudctl auth login --with-token < token.txt`',
  );
}

/** The maximum size of a token with the white space around it; longer input is not a token file. */
const maxInputLength = 70_000;

async function readAccountOf(
  context: CommandContext,
  settings: ResolvedProfileSettings,
  { baseOrigin }: Binding,
  accessToken: Secret,
): Promise<AccountDetails> {
  const hints = refusedHints(settings, context.host.folders.config);
  const api = createApiClient({
    baseOrigin,
    send: await context.send(),
    bearer: async () => accessToken,
    renew: async () => {
      throw new CliError('token_refused', `${baseOrigin} refused the access token`, {
        detail: 'nothing was stored',
        hint: 'pass an access token that was issued for this server and is still valid',
      });
    },
    clock: context.host.clock,
    timeout: context.timeout,
    loginHints: hints,
  });
  return fetchAccountOfToken(api, hints);
}

function requireTeam(account: AccountDetails, team: string | undefined): void {
  if (team === undefined) return;
  const { accountUuid } = account;
  if (
    compareAccounts({ accountUuid: accountUuid ?? '', team }, { ...account, accountUuid: accountUuid ?? '' }) === 'same'
  )
    return;
  throw new CliError('login_required', `the access token belongs to another context than ${describeTeam(team)}`, {
    detail: `the server named the ${sanitizeLine(describeTeam(account.team))}; nothing was stored`,
    hint: 'pass an access token of that context, or remove `--team`',
  });
}
