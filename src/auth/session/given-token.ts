import { type AccountDetails, fetchTokenAccount } from '../../api/account-details.ts';
import { createClient } from '../../api/client.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { compareAccounts, describeTeam } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { Secret } from '../../base/secret.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import type { CommandIo } from '../../cli/command-io.ts';
import { nearestWord } from '../../cli/values.ts';
import {
  type Binding,
  findBinding,
  type ProfileSettings,
  requireNamedProfile,
  type TypedSettings,
} from '../../config/settings.ts';
import { hasTokenSyntax } from '../oauth/index.ts';
import { confirmReplacement } from './dialog.ts';
import { refusedHints } from './hints.ts';
import { storeGivenToken } from './login.ts';
import { readStatus, reportLogin, saveOptions } from './report.ts';
import type { ProfileCommand } from './sessions.ts';
import { missingError } from './setup.ts';
import { requireAvailable } from './store.ts';

/** Implements `auth login --with-token`: stores an access token that was issued elsewhere, after the resource API has accepted it. */
export async function loginWithToken(
  command: ProfileCommand,
  args: ParsedArgs,
  typed: TypedSettings,
): Promise<ExitCode> {
  refuseBrowserOptions(args);
  const settings = command.sessionSettings(typed);
  const binding = requireBinding(command, settings);
  command.requireSafe();
  const status = await readStatus(command, settings);
  if (status !== undefined) requireAvailable(status.stored, settings.profile);
  if (!(await confirmReplacement(command, settings, status, args))) return 0;
  const accessToken = await readAccessToken(command);
  const account = await readAccountOf(command, settings, binding, accessToken);
  requireTeam(account, args.value('team'));
  const run = await command.sessionRun(settings, binding);
  await storeGivenToken(run, { accessToken, account, scope: args.value('scope') ?? '' }, async (result) => {
    await saveOptions(command, settings, typed);
    await reportLogin(command, settings, result);
  });
  return 0;
}

/** With `--with-token`, options of a login in the browser would have no effect, so they are refused. */
function refuseBrowserOptions(args: ParsedArgs): void {
  const names = ['flow', 'prompt', 'account-hint', 'no-browser', 'paste', 'login-timeout', 'accept-scope'];
  const typed = names.find((name) => args.has(name));
  if (typed !== undefined) throw usageError(`cannot use --${typed} with --with-token`, `remove \`--${typed}\``);
}

function requireBinding(command: ProfileCommand, settings: ProfileSettings): Binding {
  const binding = findBinding(settings);
  if (binding !== undefined) return binding;
  requireNamedProfile(settings, command.config(), nearestWord);
  const keys = (['auth_url', 'base_url'] as const).filter((key) => settings.values[key] === undefined);
  throw missingError(keys, settings.profile, 'a session is bound to its servers');
}

async function readAccessToken({ host, prompts }: CommandIo): Promise<Secret> {
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
  command: ProfileCommand,
  settings: ProfileSettings,
  { baseOrigin }: Binding,
  accessToken: Secret,
): Promise<AccountDetails> {
  const hints = refusedHints(settings, command.host.folders.config);
  const api = createClient({
    baseOrigin,
    send: await command.send(),
    bearer: async () => accessToken,
    renew: async () => {
      throw new CliError('token_refused', `${baseOrigin} refused the access token`, {
        detail: 'nothing was stored',
        hint: 'pass an access token that was issued for this server and is still valid',
      });
    },
    clock: command.host.clock,
    timeout: command.timeout,
    loginHints: hints,
  });
  return fetchTokenAccount(api, hints);
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
