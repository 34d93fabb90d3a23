import { clean } from '../cli/sanitize.ts';
import { sameScope } from '../oauth/scope.ts';
import { surroundings } from '../platform/environment.ts';
import { tryAcquire } from '../platform/lock.ts';
import { type Account, readAccount, writeAccount } from '../session/account.ts';
import { loginAgain } from '../session/command-for.ts';
import { accountHint, readOnce } from '../session/current.ts';
import { login } from '../session/login.ts';
import type { LoginRequest } from '../session/login-request.ts';
import { invitation, mayOpenBrowser } from '../session/login-words.ts';
import type { CredentialRecord } from '../session/record.ts';
import type { ComeBack } from './session.ts';

/** Milliseconds the browser gets: nobody has to type anything. */
const limit = 120_000;

/**
 * The silent way back (spec.md §4.1): the browser, where the person is signed in still, gives a new grant without a page.
 * Asks first; false when the person declines, or when nothing tells which account it has to be.
 */
export const comeBack: ComeBack = async (parts, settings, binding) => {
  const { host, output, prompts, place, store } = parts;
  const { profileName, values } = settings;
  const stored = await readOnce(store, binding);
  const record = stored.kind === 'found' ? stored.record : undefined;
  const request = silentRequest(record, readAccount(host.folders.config, profileName), values.pkce !== false);
  const client = await parts.client(settings, binding);
  const isPublic = client.tokenParams === 'query' && client.clientSecret === undefined;
  if (request === undefined || isPublic || (values.callback_urls ?? []).length === 0) return false;
  const message = `The session of profile "${profileName}" has ended. Log in again through the browser, as the same account and with the same scope?`;
  if (!(await prompts.confirm({ message, default: true }))) return false;
  const around = surroundings(host.env, host.platform);
  await login(
    {
      profile: profileName,
      binding,
      client,
      callbackUrls: values.callback_urls ?? [],
      issuer: values.issuer,
      store,
      send: () => parts.send({ fresh: true }),
      lock: () => parts.lock(place.lock),
      tryLoginLock: () => tryAcquire(place.loginLock),
      clock: host.clock,
      random: host.random,
      signals: host.signals,
      requireSafe: parts.requireSafe,
      clean: (text) => clean(text, 300),
      // Only such a one knows the silent way.
      isOfSpec: () => true,
      login: loginAgain(profileName, request, values.flow),
      onOtherScope: 'refuse',
      writeAccount: (account) => writeAccount(host.folders.config, profileName, account),
      invite: async (way) => {
        const open = way.startUrl !== undefined && mayOpenBrowser(around, true, host.env.BROWSER);
        const opened = open && way.startUrl !== undefined && (await host.browser.open(way.startUrl));
        const words = { profile: profileName, ...way, surroundings: around, opened, listening: true, pasting: false };
        await host.stderr.write(`${invitation({ ...words, limit: '2m' })}\n`);
      },
      pastes: () => nothing(),
      notePaste: async () => undefined,
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
    limit,
  };
}

async function* nothing(): AsyncGenerator<string> {}
