import { describe, expect, it } from 'vitest';
import { encodeRecord } from '../../src/auth/session/record.ts';
import { writeClientSecret } from '../../src/auth/session/store.ts';
import { loadSession } from '../../src/auth/session/stored.ts';
import { Secret } from '../../src/base/secret.ts';
import { resolveSettings } from '../../src/config/settings.ts';
import { type CommandParts, createServices } from '../../src/context/services.ts';
import type { Keychain } from '../../src/platform/host.ts';
import { memoryKeychain, testHost } from '../fixtures/host.ts';
import { beginRefresh, bindingTo, seedSession, sessionRun } from '../fixtures/session.ts';
import { admin, sandboxFor } from '../sandbox/requests.ts';

interface Wanted {
  readonly interactive?: boolean;
  readonly tokenParams?: 'query' | 'body';
  readonly format?: 'table' | 'json';
  readonly env?: Readonly<Record<string, string>>;
}

/** The services of the profile `default`, whose session and client secret are in the keychain. */
async function servicesFor({ interactive = false, tokenParams = 'query', format = 'table', env = {} }: Wanted = {}) {
  const memory = memoryKeychain();
  const [reads, limits]: [string[], number[]] = [[], []];
  const [questions, warnings, locked]: [string[], string[], string[]] = [[], [], []];
  let waiting = (): void => undefined;
  const keychain: Keychain = {
    open: (options) => {
      limits.push(options.timeoutMs);
      waiting = options.onWaiting ?? waiting;
      const opened = memory.open(options);
      const read: typeof opened.read = (account) => {
        reads.push(account.includes(':') ? 'client' : 'credential');
        return opened.read(account);
      };
      return { ...opened, read };
    },
  };
  const [host, sandbox] = [testHost({ keychain }), await sandboxFor()];
  const { grant, record } = await seedSession(host, sandbox, {
    values: { token_params: tokenParams, credential_store: 'keychain' },
  });
  const command: CommandParts = {
    host,
    output: {
      format,
      note: async (text) => {
        throw new Error(String(text));
      },
      warn: async (text) => void warnings.push(text),
    },
    prompts: {
      interactive,
      confirm: async ({ message }) => {
        questions.push(message);
        return false;
      },
    },
    stderr: host.stderr,
    config: () => host.readConfig(),
    send: (options) => host.createSender({ env: {}, ...options }),
    lock: (path) => {
      locked.push(path);
      return sessionRun(host, sandbox).lock();
    },
    requireSafe: () => undefined,
    timeout: 5_000,
  };
  const settings = resolveSettings({ env, config: host.readConfig() });
  const services = createServices(command);
  const store = await services.store(settings);
  await store.withItems((items) => items.write('credential', encodeRecord(record)));
  await writeClientSecret(store, bindingTo(sandbox), new Secret(sandbox.ready.client_secret));
  for (const seen of [reads, limits]) seen.splice(0);
  const { place } = store;
  const clientReads = (): number => reads.filter((item) => item === 'client').length;
  return {
    ...{ services, settings, store, place, host, sandbox, grant, record },
    ...{ questions, warnings, locked, limits, clientReads, waiting: () => waiting() },
  };
}

describe('a session', () => {
  it.each([
    ['query', 0],
    ['body', 1],
  ] as const)(
    'reads the client secret only where the server wants it at refresh: %s',
    async (tokenParams, expected) => {
      const { services, settings, clientReads } = await servicesFor({ tokenParams });
      expect((await (await services.session(settings)).forceRefresh()).gen).toBe(2);
      expect(clientReads()).toBe(expected);
    },
  );

  it('in doubt asks the resource API it is bound to', async () => {
    const { services, settings, sandbox, store, record, host, grant } = await servicesFor();
    (await beginRefresh(store, host, record)).close();
    expect((await (await services.session(settings)).bearer()).reveal()).toBe(grant.access_token);
    const { body } = await admin(sandbox, 'GET', '/_sandbox/requests?endpoint=GET%20/v2/actions');
    expect(JSON.parse(body).requests).toHaveLength(1);
  });

  it.each([true, false])('that has ended offers the way back where a person can be asked: %s', async (interactive) => {
    const { services, settings, sandbox, grant, questions, clientReads } = await servicesFor({
      interactive,
      tokenParams: 'body',
    });
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: grant.access_token });
    await expect((await services.session(settings)).forceRefresh()).rejects.toMatchObject({ code: 'needs_login' });
    // Nothing tells whose session it was, so not even the question is put.
    expect(clientReads()).toBe(interactive ? 2 : 1);
    expect(questions).toEqual([]);
  });
});

describe('what login and refresh work with', () => {
  it('is the lock, the store, the servers and the client of the profile', async () => {
    const { services, settings, sandbox, place, locked } = await servicesFor();
    const binding = bindingTo(sandbox);
    const run = await services.sessionRun(settings, binding);
    expect(run).toMatchObject({ settings, binding });
    expect(await loadSession(run.store, binding)).toMatchObject({ kind: 'found' });
    expect((await run.client()).clientSecret?.reveal()).toBe(sandbox.ready.client_secret);
    (await run.lock()).release();
    expect(locked).toEqual([place.lock]);
  });

  it('warns, but not beside JSON', async () => {
    for (const [format, expected] of [
      ['table', ['careful']],
      ['json', []],
    ] as const) {
      const { services, settings, sandbox, warnings } = await servicesFor({ format });
      await (await services.sessionRun(settings, bindingTo(sandbox))).warn('careful');
      expect(warnings).toEqual(expected);
    }
  });

  it('has the client secret of the environment for the server of the profile alone', async () => {
    const env = { CLOUDCTL_CLIENT_SECRET: 'of-the-environment' };
    const { services, settings, sandbox } = await servicesFor({ env });
    const binding = bindingTo(sandbox);
    const { client } = await services.sessionRun(settings, binding);
    expect((await client()).clientSecret?.reveal()).toBe('of-the-environment');
    for (const change of [{ authOrigin: 'https://evil.example' }, { clientId: 'other' }])
      expect((await client({ ...binding, ...change })).clientSecret).toBeUndefined();
  });
});

it.each([
  [true, 60_000, 'waiting for the keychain to be unlocked\n'],
  [false, 3_000, ''],
])('the keychain gets the time that a person needs to unlock it: %s', async (interactive, limit, text) => {
  const { services, settings, sandbox, limits, waiting, host } = await servicesFor({ interactive });
  await loadSession(await services.store(settings), bindingTo(sandbox));
  await loadSession(await services.store(settings, 7), bindingTo(sandbox));
  expect(limits).toEqual([limit, 7]);
  waiting();
  expect(host.err()).toBe(text);
});
