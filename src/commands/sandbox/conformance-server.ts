import { createSandboxAdminClient } from '../../api/sandbox-admin.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { Secret } from '../../base/secret.ts';
import type { ParsedArgs } from '../../cli/command.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/duration.ts';
import { readKnownSandboxes, resolveSandboxAdminAccess } from '../../config/sandbox-urls-and-credentials.ts';
import { normalizeEnvironmentVariableValue, type ResolvedProfileSettings } from '../../config/settings.ts';
import { createBrowserAuthorization } from '../../conformance/browser-authorization.ts';
import { readSandboxTestResources } from '../../conformance/sandbox-people.ts';
import {
  createServerUnderTestClient,
  type ServerUnderTest,
  type TestedClient,
} from '../../conformance/server-under-test.ts';
import type { CommandContext } from '../../context.ts';
import { isCi } from '../../platform/browser-environment.ts';
import { findProfileServerBinding } from '../../session/credential-record.ts';
import { getTokenFreshness, loadStoredSession } from '../../session/stored-session.ts';

/**
 * Creates the server under test from the options and the profile. Its credentials come from the environment, the profile or
 * the sandbox. Only the admin API of a sandbox receives requests.
 */
export async function createServerUnderTestClientFromArgs(
  context: CommandContext,
  args: ParsedArgs,
  signal: AbortSignal,
): Promise<ServerUnderTest> {
  const settings = context.settings();
  const { auth_url: authUrl, base_url: baseUrl, token_params: tokenParams = 'query' } = settings.values;
  if (authUrl === undefined || baseUrl === undefined)
    throw usageError(
      `${authUrl === undefined ? 'auth_url' : 'base_url'} is missing`,
      'pass `--auth-url URL --base-url URL`, or name a profile with `--profile`',
    );
  context.requireSafe();
  const send = await context.send();
  const access = adminAccessOf(context, args, authUrl);
  const admin = access === undefined ? undefined : createSandboxAdminClient(send, access.adminUrl, access.adminToken);
  const people = admin === undefined ? undefined : await readSandboxTestResources(admin);
  const client = (await readClient(context, settings)) ?? people?.applications[0];
  const refreshToken = normalizeEnvironmentVariableValue(context.host.env.CLOUDCTL_REFRESH_TOKEN);
  const allowWrites = args.has('allow-writes');
  if (client !== undefined && /:0+(?=[/?]|$)/.test(client.callbackUrl))
    throw usageError(
      `the callback URL ${client.callbackUrl} has no fixed port`,
      'set CLOUDCTL_CALLBACK_URL to a registered callback URL with its port',
    );
  if (args.has('browser') && (!allowWrites || client === undefined))
    throw usageError(
      `cannot use --browser without ${allowWrites ? 'a client ID' : '--allow-writes'}`,
      allowWrites ? 'set CLOUDCTL_CLIENT_ID and CLOUDCTL_CALLBACK_URL' : 'add `--allow-writes`',
    );
  return createServerUnderTestClient({
    authUrl,
    baseUrl,
    client,
    accessToken: await readAccessToken(context, settings),
    refreshToken: refreshToken === undefined ? undefined : new Secret(refreshToken, '[refresh token]'),
    tokenParams,
    // The specification has no PKCE, so a challenge is sent only to a server whose profile requires it.
    pkce: settings.values.pkce === true,
    cluster: readCluster(args.value('cluster')),
    allowWrites,
    visit: args.has('browser') && client !== undefined ? visitOf(context, args, client, signal) : undefined,
    admin,
    people,
    send,
    timeoutMs: context.timeout,
    random: context.host.random,
    signal,
  });
}

/**
 * The admin URL and token of --admin-url. Those of the environment or of a recorded sandbox are used only if that sandbox is
 * the tested server, because the run changes the state of the sandbox.
 */
function adminAccessOf(
  { host }: CommandContext,
  args: ParsedArgs,
  authUrl: string,
): { readonly adminUrl: string; readonly adminToken: string } | undefined {
  const typed = args.value('admin-url');
  const access = resolveSandboxAdminAccess(host.folders.state, host.env, typed);
  if (typed !== undefined && access === undefined)
    throw usageError('--admin-url requires the admin token', 'set CLOUDCTL_SANDBOX_ADMIN_TOKEN');
  if (access !== undefined && (typed !== undefined || access.adminUrl === authUrl)) return access;
  const known = readKnownSandboxes(host.folders.state).find((one) => one.auth_url === authUrl);
  return known === undefined ? undefined : { adminUrl: known.admin_url, adminToken: known.admin_token };
}

async function readClient(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): Promise<TestedClient | undefined> {
  const { client_id: id, callback_urls: callbackUrls = [], auth_url: authOrigin } = settings.values;
  const [callbackUrl] = callbackUrls;
  const binding = findProfileServerBinding(settings);
  if (id === undefined || callbackUrl === undefined || binding === undefined || authOrigin === undefined)
    return undefined;
  // Without a stored profile there is no stored secret, and the keychain is not opened.
  const stored = settings.isProfileStored ? await context.client(settings, binding) : undefined;
  return { id, secret: settings.clientSecret ?? stored?.clientSecret, callbackUrl };
}

/** The access token of the environment or of the session of the profile. It is not refreshed, and never revoked. */
async function readAccessToken(
  context: CommandContext,
  settings: ResolvedProfileSettings,
): Promise<Secret | undefined> {
  const binding = findProfileServerBinding(settings);
  if (settings.accessToken !== undefined || !settings.isProfileStored || binding === undefined)
    return settings.accessToken;
  const stored = await loadStoredSession(await context.store(settings), binding);
  if (stored.kind !== 'found' || getTokenFreshness(stored.record, context.host.clock.now()) === 'expired')
    return undefined;
  return stored.record.accessToken;
}

function visitOf(context: CommandContext, args: ParsedArgs, { callbackUrl }: TestedClient, signal: AbortSignal) {
  const { host, output } = context;
  return createBrowserAuthorization({
    callbackUrl,
    clock: host.clock,
    random: host.random,
    limitMs: parseDurationToMillisecondsOrThrow(args.value('login-timeout') ?? '5m', '--login-timeout', 1000),
    signal,
    show: async ({ startUrl, authorizationUrl, request }) => {
      const isOpened = !isCi(host.env) && (await host.browser.open(startUrl));
      const asked = request === 'deny' ? 'deny the request' : 'authorize the application';
      await output.show([`${isOpened ? 'In the browser' : 'Open this URL and'} ${asked}:`, authorizationUrl]);
    },
  });
}

function readCluster(text: string | undefined): string | undefined {
  if (text === undefined || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
  throw usageError('--cluster is not a UUID', 'list the clusters: `cloudctl db list`');
}

/** Throws `unreachable` when one of the two origins does not respond at all. */
export async function requireConformanceServersRespond(server: ServerUnderTest): Promise<void> {
  const origins = [
    { url: server.authUrl, request: { method: 'GET', path: '/v1/oauth/authorize' } },
    { url: server.baseUrl, request: { origin: 'api', method: 'GET', path: '/v2/actions' } },
  ] as const;
  for (const { url, request } of origins) {
    const response = await server.request(request);
    if (response.status === 0)
      throw new CliError('unreachable', `could not reach ${url}: ${response.received}`, {
        hint: 'check `--auth-url` and `--base-url`',
      });
  }
}
