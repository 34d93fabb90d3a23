import { sameScope } from '../oauth/scope.ts';
import { detectRuntimeEnvironment } from '../platform/runtime-environment.ts';
import { type Account, readAccount } from '../session/account.ts';
import type { CredentialRecord } from '../session/credential-record.ts';
import { performLogin } from '../session/login.ts';
import { canOpenBrowser, showLoginInstructions } from '../session/login-instructions.ts';
import type { LoginRequest } from '../session/login-request.ts';
import { accountHint, loadStoredSession } from '../session/stored-session.ts';
import { createLoginDeps } from './login-deps.ts';
import type { Reauthenticate } from './stored-session.ts';

/** Milliseconds the browser gets: nobody has to type anything. */
const loginLimitMs = 120_000;

/**
 * The silent way back (spec.md §4.1): the browser, where the person is signed in still, gives a new grant without a page.
 * Asks first; false when the person declines, or when nothing tells which account it has to be.
 */
export const reauthenticate: Reauthenticate = async (parts, settings, binding) => {
  const { host, output, prompts, store } = parts;
  const { profileName, values } = settings;
  const stored = await loadStoredSession(store, binding);
  const record = stored.kind === 'found' ? stored.record : undefined;
  const request = silentRequest(record, readAccount(host.folders.config, profileName), values.pkce !== false);
  const client = await parts.client(settings, binding);
  const isPublic = client.tokenParams === 'query' && client.clientSecret === undefined;
  if (request === undefined || isPublic || (values.callback_urls ?? []).length === 0) return false;
  const message = `The session of profile "${profileName}" has ended. Log in again through the browser, as the same account and with the same scope?`;
  if (!(await prompts.confirm({ message, default: true }))) return false;
  const runtimeEnvironment = detectRuntimeEnvironment(host.env, host.platform);
  const canOpen = canOpenBrowser(runtimeEnvironment, true, host.env.BROWSER);
  await performLogin(
    {
      ...createLoginDeps(parts, { settings, binding, client, request, profileFlow: values.flow }),
      // Only a server of spec.md supports `prompt=none`.
      isSpecServer: () => true,
      onOtherScope: 'refuse',
      showInstructions: (addresses) =>
        showLoginInstructions(host, addresses, {
          profile: profileName,
          runtimeEnvironment,
          canOpen,
          listening: true,
          pasting: false,
          limit: '2m',
        }),
      pastedLines: () => noPastedLines(),
      reportRejectedPaste: async () => undefined,
      report: async ({ account }) => output.note(`Logged in again as ${account.email ?? account.name ?? 'before'}.`),
    },
    request,
  );
  return true;
};

/** The same account and the same scope; undefined after the implicit flow, which knows no prompt and no account. */
function silentRequest(
  record: CredentialRecord | undefined,
  account: Account | undefined,
  pkce: boolean,
): LoginRequest | undefined {
  const hint = accountHint(record?.accountUuid ?? account?.hint);
  const scope = record?.scope ?? account?.scope;
  if (hint === undefined || scope === undefined || account?.flow === 'implicit') return undefined;
  return {
    flow: 'code',
    scope: sameScope(scope, 'read') ? undefined : scope,
    prompt: 'none',
    accountHint: hint,
    accountUuid: record?.accountUuid,
    pkce,
    listen: true,
    limit: loginLimitMs,
  };
}

async function* noPastedLines(): AsyncGenerator<string> {}
