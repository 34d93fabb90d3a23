import { sanitizeLine } from '../cli/sanitize.ts';
import { sameScope } from '../oauth/scope.ts';
import { tryAcquireLock } from '../platform/file-lock.ts';
import { detectRuntimeEnvironment } from '../platform/runtime-environment.ts';
import { type Account, readAccount, writeAccount } from '../session/account.ts';
import type { CredentialRecord } from '../session/credential-record.ts';
import { performLogin } from '../session/login.ts';
import { canOpenBrowser, loginInstructions } from '../session/login-instructions.ts';
import type { LoginRequest } from '../session/login-request.ts';
import { accountHint, loadStoredSession } from '../session/stored-session.ts';
import { loginCommands } from '../session/suggested-commands.ts';
import type { Reauthenticate } from './stored-session.ts';

/** Milliseconds the browser gets: nobody has to type anything. */
const loginLimitMs = 120_000;

/**
 * The silent way back (spec.md §4.1): the browser, where the person is signed in still, gives a new grant without a page.
 * Asks first; false when the person declines, or when nothing tells which account it has to be.
 */
export const reauthenticate: Reauthenticate = async (parts, settings, binding) => {
  const { host, output, prompts, place, store } = parts;
  const { profileName, values } = settings;
  const stored = await loadStoredSession(store, binding);
  const record = stored.kind === 'found' ? stored.record : undefined;
  const request = silentRequest(record, readAccount(host.folders.config, profileName), values.pkce !== false);
  const client = await parts.client(settings, binding);
  const isPublic = client.tokenParams === 'query' && client.clientSecret === undefined;
  if (request === undefined || isPublic || (values.callback_urls ?? []).length === 0) return false;
  const message = `The session of profile "${profileName}" has ended. Log in again through the browser, as the same account and with the same scope?`;
  if (!(await prompts.confirm({ message, default: true }))) return false;
  const around = detectRuntimeEnvironment(host.env, host.platform);
  await performLogin(
    {
      profile: profileName,
      binding,
      client,
      callbackUrls: values.callback_urls ?? [],
      issuer: values.issuer,
      store,
      createSender: () => parts.send({ fresh: true }),
      lock: () => parts.lock(place.lock),
      tryLoginLock: () => tryAcquireLock(place.loginLock),
      clock: host.clock,
      random: host.random,
      signals: host.signals,
      requireSafe: parts.requireSafe,
      sanitize: (text) => sanitizeLine(text, 300),
      // Only such a one knows the silent way.
      isSpecServer: () => true,
      loginCommands: loginCommands(profileName, request, values.flow),
      onOtherScope: 'refuse',
      writeAccount: (account) => writeAccount(host.folders.config, profileName, account),
      showInstructions: async (way) => {
        const open = way.startUrl !== undefined && canOpenBrowser(around, true, host.env.BROWSER);
        const opened = open && way.startUrl !== undefined && (await host.browser.open(way.startUrl));
        const words = {
          profile: profileName,
          ...way,
          runtimeEnvironment: around,
          opened,
          listening: true,
          pasting: false,
        };
        await host.stderr.write(`${loginInstructions({ ...words, limit: '2m' })}\n`);
      },
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
