import { describe, expect, it, onTestFinished } from 'vitest';
import type { LoggedInAccount } from '../../../src/auth/session/account.ts';
import { encodeCredentialRecord } from '../../../src/auth/session/credential-record.ts';
import { createFileCredentialStore } from '../../../src/auth/session/file-store.ts';
import { type LoginDeps, performLogin } from '../../../src/auth/session/login.ts';
import type { OAuthLoginOptions } from '../../../src/auth/session/oauth-login-options.ts';
import { profilePaths } from '../../../src/auth/session/profile-paths.ts';
import { buildLoginRetryCommands } from '../../../src/auth/session/suggested-commands.ts';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import { HttpSendError } from '../../../src/platform/http-sender.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { visit } from '../../fixtures/login.ts';
import { profileNamed } from '../../fixtures/profile.ts';
import { bindingTo, keychainStoreOf, refreshDeps, seedSession, storedRecord } from '../../fixtures/session.ts';
import { callApi, codeFor, MAYA, sandboxFor, send, tokenFor, userOf } from '../../sandbox/requests.ts';

const request: OAuthLoginOptions = {
  flow: 'code',
  scope: undefined,
  prompt: undefined,
  accountHint: undefined,
  pkce: false,
  listen: false,
  limit: 60_000,
};

interface Setup {
  readonly deps: LoginDeps;
  readonly notes: string[];
  readonly accounts: LoggedInAccount[];
  /** What a person pastes, once the address was shown; `STATE` becomes the state of this login. */
  paste(...lines: string[]): void;
}

function setup(host: TestHost, sandbox: SandboxServers, changes: Partial<LoginDeps> = {}): Setup {
  const { store, lock, requireSafe } = refreshDeps(host, sandbox);
  const notes: string[] = [];
  const accounts: LoggedInAccount[] = [];
  const lines: string[] = [];
  let state = '';
  const { authOrigin, clientId } = bindingTo(sandbox);
  return {
    notes,
    accounts,
    paste: (...more) => void lines.push(...more),
    deps: {
      profile: profileNamed('default'),
      binding: bindingTo(sandbox),
      client: { authOrigin, clientId, clientSecret: new Secret(sandbox.ready.client_secret), tokenParams: 'query' },
      callbackUrls: [sandbox.ready.callback_url],
      issuer: undefined,
      store,
      lock,
      requireSafe,
      probeServer: async () => undefined,
      unreachableHint: 'check the network',
      tryLoginLock: () => ({ descriptor: -1, release: () => undefined }),
      createSender: () => host.createSender({ env: {}, fresh: true }),
      clock: host.clock,
      random: host.random,
      signals: host.signals,
      isSpecServer: () => false,
      loginCommands: buildLoginRetryCommands(profileNamed('default'), request, undefined),
      onOtherScope: 'refuse',
      canContinue: false,
      writeAccount: (account) => accounts.push(account),
      showInstructions: async ({ authorizationUrl }) => {
        state = new URL(authorizationUrl).searchParams.get('state') ?? '';
      },
      pastedLines: async function* () {
        for (const line of lines) yield line.replace('STATE', state);
        await new Promise(() => undefined);
      },
      report: async () => undefined,
      reportRejectedPaste: async (kind) => {
        notes.push(kind);
      },
      ...changes,
    },
  };
}

it('a session that a login replaced is revoked although the login cannot be reported', async () => {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  const { grant } = await seedSession(host, sandbox);
  const failure = new Error('EPIPE');
  const { deps, paste } = setup(host, sandbox, {
    isSpecServer: () => true,
    report: () => Promise.reject(failure),
  });
  paste(`${sandbox.ready.callback_url}?code=${await codeFor(sandbox)}&state=STATE`);
  await expect(performLogin(deps, request)).rejects.toBe(failure);
  expect(sandbox.world.pair(grant.access_token)?.end).toBe('revoked');
});

describe('a login by paste', () => {
  it('takes the whole address of the last page', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps, paste, accounts } = setup(host, sandbox);
    paste(`${sandbox.ready.callback_url}?code=${await codeFor(sandbox)}&state=STATE`);
    const result = await performLogin(deps, request);
    expect(result.record).toMatchObject({ gen: 1, scope: 'read' });
    expect(storedRecord(profilePaths(host.folders.state, 'default'))?.sid).toBe(result.record.sid);
    expect(accounts).toMatchObject([{ sid: result.record.sid, email: 'maya@example.com' }]);
  });

  it('takes CODE STATE, and stays armed after lines that are nothing', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps, paste, notes } = setup(host, sandbox);
    const code = await codeFor(sandbox);
    paste('', 'hello there my friend', `${sandbox.ready.callback_url}?code=${code}`, `${code} STATE`);
    await performLogin(deps, request);
    expect(notes).toEqual(['unreadable', 'incomplete']);
  });

  it('with another state ends, and nothing is exchanged', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps, paste } = setup(host, sandbox);
    const code = await codeFor(sandbox);
    paste(`${code} foreign-state`);
    await expect(performLogin(deps, request)).rejects.toMatchObject({ code: 'state_mismatch', exitCode: 4 });
    const again = setup(host, sandbox);
    again.paste(`${code} STATE`);
    await performLogin(again.deps, request);
  });

  it('with an error ends with the code of the error', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps, paste } = setup(host, sandbox);
    paste(`${sandbox.ready.callback_url}?error=consent_required&state=STATE`);
    await expect(performLogin(deps, request)).rejects.toMatchObject({ code: 'consent_required', exitCode: 4 });
  });

  it('with a wrong client secret ends with invalid_client', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { authOrigin, clientId } = bindingTo(sandbox);
    const client = { authOrigin, clientId, clientSecret: new Secret('wrong'), tokenParams: 'query' } as const;
    const { deps, paste } = setup(host, sandbox, { client });
    paste(`${sandbox.ready.callback_url}?code=${await codeFor(sandbox)}&state=STATE`);
    await expect(performLogin(deps, request)).rejects.toMatchObject({ code: 'invalid_client', exitCode: 4 });
  });

  it('whose input ends before a response was pasted is a usage error', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps } = setup(host, sandbox, { pastedLines: async function* () {} });
    const error = await performLogin(deps, request).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'usage' });
    expectGolden('auth', errorText(error));
  });

  it('asks the store before the person, and the lock before both', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const invite = () => Promise.reject(new Error('invited'));
    const store = {
      ...createFileCredentialStore(profilePaths(host.folders.state, 'default')),
      withItems: () => Promise.reject(new CliError('keychain_unavailable', 'locked')),
    };
    await expect(
      performLogin(setup(host, sandbox, { showInstructions: invite, store }).deps, request),
    ).rejects.toMatchObject({
      code: 'keychain_unavailable',
    });
    const tryLoginLock = () => undefined;
    await expect(
      performLogin(setup(host, sandbox, { showInstructions: invite, store, tryLoginLock }).deps, request),
    ).rejects.toMatchObject({
      code: 'busy',
    });
  });

  it('ends the session before it: what an interrupted refresh has left of it goes, and nothing of others', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const store = keychainStoreOf(host);
    const { record } = await seedSession(host, sandbox);
    await store.withItems((items) => items.write('credential', encodeCredentialRecord(record)));
    const others = { ...record, sid: 'fedcba9876543210' };
    for (const left of [record, others]) store.journal.reserve(left, { now: 1, random: host.random }).close();
    const { deps, paste } = setup(host, sandbox, { store });
    paste(`${await codeFor(sandbox)} STATE`);
    await performLogin(deps, request);
    expect(store.journal.inspect(record).inDoubt).toBe(false);
    expect(store.journal.inspect(others).inDoubt).toBe(true);
  });

  it('has a state, a session id and a seal of its own each time', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const records = [];
    for (const _ of [1, 2]) {
      const { deps, paste } = setup(host, sandbox);
      paste(`${await codeFor(sandbox)} STATE`);
      records.push((await performLogin(deps, request)).record);
    }
    const [a, b] = records;
    expect(a?.sid).toMatch(/^[0-9a-f]{16}$/);
    expect(a?.sid).not.toBe(b?.sid);
    expect(Buffer.from(a?.journalKey.reveal() ?? '', 'base64url')).toHaveLength(32);
    expect(a?.journalKey.reveal()).not.toBe(b?.journalKey.reveal());
  });
});

describe('a login by the redirect', () => {
  it('is stopped by no terminal that cannot be read', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    let reads = 0;
    const { deps } = setup(host, sandbox, {
      callbackUrls: ['http://127.0.0.1:0/callback'],
      showInstructions: async ({ authorizationUrl, callbackUrl }) => {
        const state = new URL(authorizationUrl).searchParams.get('state') ?? '';
        // Only once the terminal has failed: the redirect comes later than that.
        setTimeout(() => void visit(`${callbackUrl}?error=access_denied&state=${state}`).catch(() => undefined), 50);
      },
      pastedLines: async function* () {
        reads += 1;
        yield await Promise.reject(new Error('EIO'));
      },
    });
    const unheard: unknown[] = [];
    const hear = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', hear);
    onTestFinished(() => void process.off('unhandledRejection', hear));
    await expect(performLogin(deps, { ...request, listen: true })).rejects.toMatchObject({ code: 'access_denied' });
    expect(reads).toBe(1);
    expect(unheard).toEqual([]);
  });
});

describe('a login that is interrupted', () => {
  it('while the exchange hangs ends its request: nothing keeps the program, and nothing was stored', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    let exchange: AbortSignal | undefined;
    const { deps, paste } = setup(host, sandbox, {
      clock: { now: host.clock.now, sleep: (ms) => (ms <= 5_000 ? Promise.resolve() : new Promise(() => {})) },
      createSender:
        async () =>
        (_url, { signal }) => {
          exchange = signal;
          setImmediate(() => host.signal('SIGINT'));
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(new HttpSendError('aborted', true, 'given up'))),
          );
        },
    });
    paste('a-code STATE');
    await expect(performLogin(deps, request)).rejects.toMatchObject({ code: 'cancelled', exitCode: 130 });
    expect(exchange?.aborted).toBe(true);
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).toBeUndefined();
  });
});

describe('a grant with another scope than the requested one', () => {
  interface Narrowed {
    readonly host: TestHost;
    readonly login: ReturnType<typeof performLogin>;
    readonly stored: () => ReturnType<typeof storedRecord>;
    readonly isAlive: () => Promise<boolean>;
  }

  /** The implicit flow with a token of the scope `read`, where `read write` was requested. */
  async function narrowed(changes: Partial<LoginDeps>): Promise<Narrowed> {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps, paste } = setup(host, sandbox, changes);
    const { access_token: token } = await tokenFor(sandbox, { scope: 'read' });
    paste(`http://x#access_token=${token}&token_type=bearer&expires_in=60&scope=read&state=STATE`);
    const login = performLogin(deps, { ...request, flow: 'implicit', scope: 'read write' });
    login.catch(() => undefined);
    const stored = (): ReturnType<typeof storedRecord> => storedRecord(profilePaths(host.folders.state, 'default'));
    return {
      host,
      login,
      stored,
      isAlive: async (): Promise<boolean> => (await callApi(sandbox, token, 'GET', '/v2/actions')).status === 200,
    };
  }

  it('is refused and revoked', async () => {
    const { login, isAlive, stored } = await narrowed({});
    await expect(login).rejects.toMatchObject({ code: 'scope_mismatch', exitCode: 4 });
    expect(await isAlive()).toBe(false);
    expect(stored()).toBeUndefined();
  });

  it.each([
    ['no', async () => false, 'scope_mismatch'],
    ['Ctrl-C', () => Promise.reject(new CliError('cancelled', 'cancelled')), 'cancelled'],
  ])('is revoked when a person answers %s', async (_said, onOtherScope, code) => {
    const { login, isAlive, stored } = await narrowed({ onOtherScope });
    await expect(login).rejects.toMatchObject({ code });
    expect(await isAlive()).toBe(false);
    expect(stored()).toBeUndefined();
  });

  it('is revoked when a signal ends the question, and the signal decides the exit code', async () => {
    let onAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      onAsked = resolve;
    });
    const { host, login, isAlive } = await narrowed({
      onOtherScope: (_requested, _granted, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new CliError('cancelled', 'cancelled')));
          onAsked();
        }),
    });
    await asked;
    host.signal('SIGTERM');
    await expect(login).rejects.toMatchObject({ code: 'cancelled', exitCode: 143 });
    expect(await isAlive()).toBe(false);
  });

  it('is stored when a person answers yes', async () => {
    const { login, isAlive } = await narrowed({ onOtherScope: async () => true });
    expect((await login).record.scope).toBe('read');
    expect(await isAlive()).toBe(true);
  });

  it('is revoked when it could not be stored', async () => {
    const lock = () => Promise.reject(new CliError('busy', 'busy'));
    const { login, isAlive } = await narrowed({ onOtherScope: 'accept', lock });
    await expect(login).rejects.toMatchObject({ code: 'busy' });
    expect(await isAlive()).toBe(false);
  });

  it('gives the tab its page before the question is answered', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const code = await codeFor(sandbox);
    let page: string | undefined;
    const { deps } = setup(host, sandbox, {
      showInstructions: async ({ authorizationUrl, callbackUrl }) => {
        const state = new URL(authorizationUrl).searchParams.get('state') ?? '';
        setTimeout(
          () => void visit(`${callbackUrl}?code=${code}&state=${state}`).then(({ body }) => (page = body)),
          20,
        );
      },
      onOtherScope: async () => {
        while (page === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
        return true;
      },
    });
    await performLogin(deps, { ...request, listen: true, scope: 'read write' });
    expect(page).toContain('<main class="waiting">');
  });
});

describe('a login without a page that needs a person', () => {
  it.each(['consent_required', 'login_required', 'interaction_required', 'account_selection_required'])(
    '%s goes on in the same tab, with a new state and PKCE',
    async (error) => {
      const sandbox = await sandboxFor();
      const urls: URL[] = [];
      const { deps } = setup(testHost(), sandbox, {
        canContinue: true,
        callbackUrls: [sandbox.ready.callback_url],
        showInstructions: async ({ authorizationUrl }, { isContinued }) => {
          expect(isContinued).toBe(urls.length > 0);
          urls.push(new URL(authorizationUrl));
        },
      });
      const login = performLogin(deps, {
        ...request,
        prompt: 'none',
        accountHint: userOf(sandbox, MAYA).uuid.slice(0, 6),
        listen: true,
        pkce: true,
      });
      const { origin, pathname } = new URL(sandbox.ready.callback_url);
      const respond = async (parameters: Record<string, string>) => {
        const redirect = await send(origin, `${pathname}?${new URLSearchParams(parameters)}`);
        return send(origin, new URL(redirect.headers.location ?? '', origin).pathname);
      };
      await expect.poll(() => urls.length).toBe(1);
      const [first] = urls;
      const tab = await respond({ error, state: first?.searchParams.get('state') ?? '' });
      expect(tab.status).toBe(303);
      await expect.poll(() => urls.length).toBe(2);
      const second = urls[1];
      expect(tab.headers.location).toBe(second?.href);
      expect([second?.searchParams.get('prompt'), second?.searchParams.get('i')]).toEqual([null, null]);
      for (const key of ['state', 'code_challenge'])
        expect(second?.searchParams.get(key)).not.toBe(first?.searchParams.get(key));
      const challenge = {
        code_challenge: second?.searchParams.get('code_challenge') ?? '',
        code_challenge_method: 'S256',
      };
      const code = await codeFor(sandbox, { changes: challenge });
      const page = await respond({ code, state: second?.searchParams.get('state') ?? '' });
      expect(page.status).toBe(200);
      expect((await login).record.gen).toBe(1);
    },
  );
});
