import { expect, it } from 'vitest';
import { readLoggedInAccountFile } from '../../src/auth/session/account.ts';
import { createFileCredentialStore } from '../../src/auth/session/file-store.ts';
import { profilePaths } from '../../src/auth/session/profile-paths.ts';
import { resolveProfileSettings } from '../../src/config/settings.ts';
import { createLoginDeps } from '../../src/context/login-deps.ts';
import { testHost } from '../fixtures/host.ts';

const values = {
  auth_url: 'https://a.example',
  base_url: 'https://b.example',
  client_id: 'c',
  callback_urls: ['http://127.0.0.1:8765/x'],
};

it('a login gets the locks, the store and the commands of its profile', async () => {
  const host = testHost();
  host.writeConfig({ profiles: { work: values } });
  const settings = resolveProfileSettings({ env: {}, config: host.readConfig(), profile: 'work' });
  const place = profilePaths(host.folders.state, 'work');
  const locked: string[] = [];
  const lock = async (path: string) => {
    locked.push(path);
    return { descriptor: -1, release: () => undefined };
  };
  const store = createFileCredentialStore(place);
  const binding = { authOrigin: values.auth_url, baseOrigin: values.base_url, clientId: values.client_id };
  const client = { authOrigin: values.auth_url, clientId: 'c', tokenParams: 'query' } as const;
  const request = { flow: 'implicit', scope: 'read write', prompt: undefined, accountHint: undefined } as const;
  const deps = createLoginDeps(
    {
      host,
      place,
      store,
      lock,
      send: (options) => host.createSender({ env: {}, ...options }),
      requireSafe: () => undefined,
    },
    { settings, binding, client, request: { ...request, pkce: true, listen: true, limit: 1 }, profileFlow: 'code' },
  );
  expect(deps).toMatchObject({ profile: settings.profile, binding, client, callbackUrls: values.callback_urls });
  await deps.lock();
  expect(locked).toEqual([place.lock]);
  const held = deps.tryLoginLock();
  expect(held).toBeDefined();
  expect(deps.tryLoginLock()).toBeUndefined();
  held?.release();
  expect(deps.loginCommands.sameRequest).toBe(
    '`cloudctl auth login --flow implicit --scope "read write" --profile work`',
  );
  expect(deps.isSpecServer()).toBe(false);
  deps.writeAccount({ sid: '0', hint: 'abcdef', scope: 'read', scope_verified: true, flow: 'code' });
  expect(readLoggedInAccountFile(host.folders.config, 'work')?.hint).toBe('abcdef');
  expect(deps.isSpecServer()).toBe(true);
});
