import { type AccountDetails, fetchAccountOfToken } from '../../api/account-details.ts';
import { createApiClient } from '../../api/client.ts';
import { hasTokenSyntax } from '../../auth/oauth/index.ts';
import { storeLoggedInAccount } from '../../auth/session/account.ts';
import type { SessionServerBinding } from '../../auth/session/credential-record.ts';
import { findProfileServerBinding } from '../../auth/session/credential-record.ts';
import { requireCredentialStoreAvailable } from '../../auth/session/credential-store.ts';
import { revokeReplacedSession } from '../../auth/session/revoke-grant.ts';
import { buildRefusedRequestHints, isServerKnownToImplementSpec } from '../../auth/session/session-server-binding.ts';
import { storeGivenToken } from '../../auth/session/store-login.ts';
import { loadStoredSession } from '../../auth/session/stored-session.ts';
import { CliError, type ExitCode, usageError } from '../../base/errors.ts';
import { compareAccounts, describeTeam } from '../../base/identity.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { Secret } from '../../base/secret.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { removeCachedCompletionNames } from '../../config/cached-completion-names.ts';
import {
  type ProfileSettingsFromOptions,
  type ResolvedProfileSettings,
  requireNamedProfileExists,
} from '../../config/settings.ts';
import type { CommandContext } from '../../context.ts';
import { confirmSessionReplacement } from './confirm-replacement.ts';
import { reportLogin, saveLoginOptionsInProfile } from './login-report.ts';
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
  const stored = requireCredentialStoreAvailable(
    await loadStoredSession(await context.store(settings), binding),
    settings.profile,
  );
  if (!(await confirmSessionReplacement(context, settings, stored, args))) {
    await context.output.note(`The session of profile ${settings.profileName} was not changed.`);
    return 0;
  }
  const accessToken = await readAccessToken(context);
  const account = await readAccountOf(context, settings, binding, accessToken);
  requireTeam(account, args.value('team'));
  const { host } = context;
  const { profileName } = settings;
  const { authOrigin, clientId } = binding;
  // Whether the server follows docs/service.md is read from the account file before the login replaces the file.
  const isSpec = isServerKnownToImplementSpec(host.folders, profileName, authOrigin);
  const result = await storeGivenToken(
    {
      binding,
      store: await context.store(settings),
      lock: () => context.lock(context.profilePaths(profileName).lock),
      clock: host.clock,
      random: host.random,
      writeAccount: (names) => {
        removeCachedCompletionNames(host.folders.state, profileName);
        storeLoggedInAccount(host.folders.config, profileName, names);
      },
    },
    { accessToken, account, scope: args.value('scope') ?? '' },
  );
  const revocation = {
    client: { authOrigin, clientId, tokenParams: settings.values.token_params ?? 'query' },
    createSender: () => context.send({ fresh: true }),
    isSpecServer: () => isSpec,
  };
  // The new session is stored, also if it cannot be reported.
  await saveLoginOptionsInProfile(context, settings, typed)
    .then(() => reportLogin(context, settings, result))
    .finally(() => revokeReplacedSession(revocation, result));
  return 0;
}

/** With `--with-token`, options of a login in the browser would have no effect, so they are refused. */
function refuseBrowserOptions(args: ParsedArgs): void {
  const names = ['flow', 'prompt', 'account-hint', 'no-browser', 'paste', 'login-timeout', 'accept-scope'];
  const typed = names.find((name) => args.has(name));
  if (typed !== undefined) throw usageError(`cannot use --${typed} with --with-token`, `remove \`--${typed}\``);
}

function requireBinding(context: CommandContext, settings: ResolvedProfileSettings): SessionServerBinding {
  const binding = findProfileServerBinding(settings);
  if (binding !== undefined) return binding;
  requireNamedProfileExists(settings, context.config());
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
  { baseOrigin }: SessionServerBinding,
  accessToken: Secret,
): Promise<AccountDetails> {
  const hints = buildRefusedRequestHints(settings, context.host.folders.config);
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
