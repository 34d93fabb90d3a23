import { expect, it } from 'vitest';
import { createFileCredentialStore } from '../../src/auth/session/file-store.ts';
import { Secret } from '../../src/base/secret.ts';
import { resolveProfileSettings } from '../../src/config/settings.ts';
import { reauthenticate } from '../../src/context/reauthenticate.ts';
import { createStoredSessionTokenProvider } from '../../src/context/stored-session-token-provider.ts';
import { testHost } from '../fixtures/host.ts';
import { bindingTo, refreshDeps, seedSession } from '../fixtures/session.ts';
import { admin, sandboxFor } from '../sandbox/requests.ts';

/** A session of the parts that the context would give it, with a person at the terminal or without. */
async function made(interactive: boolean, tokenParams: 'query' | 'body' = 'query') {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  const { grant, place, record } = await seedSession(host, sandbox, { values: { token_params: tokenParams } });
  const seen: string[] = [];
  const none = (): never => {
    throw new Error('not wanted');
  };
  const binding = bindingTo(sandbox);
  const session = createStoredSessionTokenProvider(
    {
      host,
      output: { format: 'table', note: none, warn: none },
      prompts: {
        interactive,
        confirm: async ({ message }) => {
          seen.push(message);
          return false;
        },
      },
      place,
      store: createFileCredentialStore(place),
      client: async () => {
        seen.push('client');
        const clientSecret = new Secret(sandbox.ready.client_secret);
        return { ...binding, clientSecret, tokenParams };
      },
      send: (options) => host.createSender({ env: {}, ...options }),
      lock: () => refreshDeps(host, sandbox).lock(),
      requireSafe: () => undefined,
    },
    resolveProfileSettings({ env: {}, config: host.readConfig(), profile: undefined }),
    binding,
    reauthenticate,
  );
  return { session, sandbox, grant, record, place, host, seen };
}

it('a session asks for the client secret only where the server wants it at refresh', async () => {
  for (const [tokenParams, expected] of [
    ['query', []],
    ['body', ['client']],
  ] as const) {
    const { session, seen } = await made(false, tokenParams);
    expect((await session.forceRefresh()).gen).toBe(2);
    expect(seen).toEqual(expected);
  }
});

it('a session in doubt asks the resource API it is bound to', async () => {
  const { session, sandbox, record, place, host, grant } = await made(false);
  createFileCredentialStore(place).journal.reserve(record, { now: 1, random: host.random }).close();
  expect((await session.bearer()).reveal()).toBe(grant.access_token);
  const { body } = await admin(sandbox, 'GET', '/_sandbox/requests?endpoint=GET%20/v2/actions');
  expect(JSON.parse(body).requests).toHaveLength(1);
});

it.each([true, false])(
  'a session that has ended offers the way back where a person can be asked: %s',
  async (interactive) => {
    const { session, sandbox, grant, seen } = await made(interactive, 'body');
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: grant.access_token });
    await expect(session.forceRefresh()).rejects.toMatchObject({ code: 'needs_login' });
    // Nothing tells whose session it was, so not even the question is put.
    expect(seen).toEqual(interactive ? ['client', 'client'] : ['client']);
  },
);
