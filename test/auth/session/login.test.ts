import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readAccount, storeAccount } from '../../../src/auth/session/account.ts';
import type { LoginDialog } from '../../../src/auth/session/authorize.ts';
import { findNewest } from '../../../src/auth/session/journal.ts';
import { logIn, storeLogin } from '../../../src/auth/session/login.ts';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import { encodeRecord, recordCodec, type SessionRecord } from '../../../src/auth/session/record.ts';
import type { SessionRun } from '../../../src/auth/session/run.ts';
import { type CredentialStore, createFileStore } from '../../../src/auth/session/store.ts';
import { loadSession } from '../../../src/auth/session/stored.ts';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import { recordSandbox } from '../../../src/config/sandboxes.ts';
import { SendError } from '../../../src/platform/http-sender.ts';
import { tryAcquire } from '../../../src/platform/locks.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { loginRequest as request, silentDialog, visit } from '../../fixtures/login.ts';
import { profileNamed } from '../../fixtures/profile.ts';
import {
  beginRefresh,
  bindingTo,
  keychainStoreOf,
  seedSession,
  sessionRun,
  settingsOf,
  storedRecord,
} from '../../fixtures/session.ts';
import { callApi, codeFor, MAYA, sandboxFor, send, tokenFor, userOf } from '../../sandbox/requests.ts';

interface Setup {
  readonly run: SessionRun;
  readonly dialog: LoginDialog;
  readonly notes: string[];
  /** What a person pastes, once the address was shown; `STATE` becomes the state of this login. */
  paste(...lines: string[]): void;
}

function setup(
  host: TestHost,
  sandbox: SandboxServers,
  changes: { readonly run?: Partial<SessionRun>; readonly dialog?: Partial<LoginDialog> } = {},
): Setup {
  const notes: string[] = [];
  const lines: string[] = [];
  let state = '';
  return {
    notes,
    paste: (...more) => void lines.push(...more),
    run: sessionRun(host, sandbox, { client: async () => clientOf(sandbox), ...changes.run }),
    dialog: silentDialog({
      showInstructions: async ({ authorizationUrl }) => {
        state = new URL(authorizationUrl).searchParams.get('state') ?? '';
      },
      pastedLines: async function* () {
        for (const line of lines) yield line.replace('STATE', state);
        await new Promise(() => undefined);
      },
      reportRejectedPaste: async (kind) => {
        notes.push(kind);
      },
      ...changes.dialog,
    }),
  };
}

function clientOf(sandbox: SandboxServers, clientSecret = sandbox.ready.client_secret) {
  const { authOrigin, clientId } = bindingTo(sandbox);
  return { authOrigin, clientId, clientSecret: new Secret(clientSecret), tokenParams: 'query' } as const;
}

it('a session that a login replaced is revoked although the login cannot be reported', async () => {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  const { grant } = await seedSession(host, sandbox);
  const failure = new Error('EPIPE');
  recordSandbox(host.folders.state, sandbox.ready);
  const { run, dialog, paste } = setup(host, sandbox, { dialog: { report: () => Promise.reject(failure) } });
  paste(`${sandbox.ready.callback_url}?code=${await codeFor(sandbox)}&state=STATE`);
  await expect(logIn(run, request, dialog)).rejects.toBe(failure);
  expect(sandbox.world.grants.pair(grant.access_token)?.end).toBe('revoked');
});

it('a login with an account hint at a server that names no account leaves the replaced session to it', async () => {
  const [host, sandbox] = [testHost(), await sandboxFor()];
  const { origin, seen } = await serverFor((_, response) =>
    reply(response, 200, { access_token: 'at-1', token_type: 'bearer', expires_in: 60 }),
  );
  const at = { ready: { ...sandbox.ready, auth_url: origin } };
  const { record } = await seedSession(host, sandbox, { record: { authOrigin: origin } });
  const run = { binding: bindingTo(at), settings: settingsOf(at) };
  const client = async () => ({ ...clientOf(sandbox), authOrigin: origin });
  const login = setup(host, sandbox, { run: { ...run, client } });
  login.paste('a-code STATE');
  const silent = { ...request, prompt: 'none', accountHint: 'abcdef' };
  const { replaced } = await logIn(login.run, silent, login.dialog);
  // A revocation may end all grants of the application there (RFC 7009 §2.1).
  expect(replaced?.sid).toBe(record.sid);
  expect(seen.map(({ url }) => url.split('?')[0])).toEqual(['/v1/oauth/token']);
});

describe('a login by paste', () => {
  it('takes the whole address of the last page', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { run, dialog, paste } = setup(host, sandbox);
    paste(`${sandbox.ready.callback_url}?code=${await codeFor(sandbox)}&state=STATE`);
    const result = await logIn(run, request, dialog);
    expect(result.record).toMatchObject({ gen: 1, scope: 'read' });
    expect(storedRecord(profilePaths(host.folders.state, 'default'))?.sid).toBe(result.record.sid);
    const account = readAccount(host.folders.config, 'default');
    expect(account).toMatchObject({ sid: result.record.sid, email: 'maya@example.com' });
  });

  it('takes CODE STATE, and stays armed after lines that are nothing', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { run, dialog, paste, notes } = setup(host, sandbox);
    const code = await codeFor(sandbox);
    paste('', 'hello there my friend', `${sandbox.ready.callback_url}?code=${code}`, `${code} STATE`);
    await logIn(run, request, dialog);
    expect(notes).toEqual(['unreadable', 'incomplete']);
  });

  it('with another state is refused, and the login goes on', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { run, dialog, paste, notes } = setup(host, sandbox);
    const code = await codeFor(sandbox);
    paste(`${code} foreign-state`, `${code} STATE`);
    await logIn(run, request, dialog);
    expect(notes).toEqual(['other_login']);
  });

  it('with an error ends with the code of the error', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { run, dialog, paste } = setup(host, sandbox);
    paste(`${sandbox.ready.callback_url}?error=consent_required&state=STATE`);
    await expect(logIn(run, request, dialog)).rejects.toMatchObject({ code: 'consent_required', exitCode: 4 });
  });

  it('with a wrong client secret ends with invalid_client', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { run, dialog, paste } = setup(host, sandbox, { run: { client: async () => clientOf(sandbox, 'wrong') } });
    paste(`${sandbox.ready.callback_url}?code=${await codeFor(sandbox)}&state=STATE`);
    await expect(logIn(run, request, dialog)).rejects.toMatchObject({ code: 'invalid_client', exitCode: 4 });
  });

  it('that failed is repeated by the command with its options and the flow that the profile does not have', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const settings = { ...settingsOf(sandbox), profileName: 'work', profile: profileNamed('work') };
    async function* pastedLines() {
      yield 'a-code foreign-state';
    }
    const { run, dialog } = setup(host, sandbox, { run: { settings }, dialog: { pastedLines } });
    // After the end of the input no other response can come.
    const implicit = { ...request, listen: false, flow: 'implicit', scope: 'read write', profileFlow: 'code' } as const;
    await expect(logIn(run, { ...implicit, typed: ['--no-browser'] }, dialog)).rejects.toMatchObject({
      code: 'state_mismatch',
      hint: expect.stringContaining(
        '`cloudctl auth login --flow implicit --scope "read write" --no-browser --profile work`',
      ),
    });
  });

  it('whose input ends before a response was pasted is a usage error', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { run, dialog } = setup(host, sandbox, { dialog: { pastedLines: async function* () {} } });
    const error = await logIn(run, request, dialog).catch((caught) => caught);
    expect(error).toMatchObject({ code: 'usage' });
    expectGolden('auth', errorText(error));
  });

  it('asks the store before the person, and the lock before both', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const place = profilePaths(host.folders.state, 'default');
    const store = {
      ...createFileStore(place),
      withItems: () => Promise.reject(new CliError('keychain_unavailable', 'locked')),
    };
    const { run, dialog } = setup(host, sandbox, {
      run: { store },
      dialog: { showInstructions: () => Promise.reject(new Error('invited')) },
    });
    await expect(logIn(run, request, dialog)).rejects.toMatchObject({ code: 'keychain_unavailable' });
    const other = tryAcquire(place.loginLock);
    await expect(logIn(run, request, dialog)).rejects.toMatchObject({ code: 'busy' });
    other?.release();
  });

  it('ends the session before it: what an interrupted refresh has left of it goes, and nothing of others', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const store = keychainStoreOf(host);
    const { record } = await seedSession(host, sandbox);
    await store.withItems((items) => items.write('credential', encodeRecord(record)));
    const others = { ...record, sid: 'fedcba9876543210' };
    for (const left of [record, others]) (await beginRefresh(store, host, left)).close();
    const { run, dialog, paste } = setup(host, sandbox, { run: { store } });
    paste(`${await codeFor(sandbox)} STATE`);
    await logIn(run, request, dialog);
    const inDoubt = async (of: SessionRecord): Promise<boolean> =>
      findNewest(await store.journal(of.sid).read(), of, recordCodec).inDoubt;
    expect(await inDoubt(record)).toBe(false);
    expect(await inDoubt(others)).toBe(true);
  });

  it('has a state, a session id and a seal of its own each time', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const records = [];
    for (const _ of [1, 2]) {
      const { run, dialog, paste } = setup(host, sandbox);
      paste(`${await codeFor(sandbox)} STATE`);
      records.push((await logIn(run, request, dialog)).record);
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
    const { run, dialog } = setup(host, sandbox, {
      run: { settings: settingsOf(sandbox, { callback_urls: ['http://127.0.0.1:0/callback'] }) },
      dialog: {
        showInstructions: async ({ authorizationUrl, callbackUrl }) => {
          const state = new URL(authorizationUrl).searchParams.get('state') ?? '';
          // Only once the terminal has failed: the redirect comes later than that.
          setTimeout(() => void visit(`${callbackUrl}?error=access_denied&state=${state}`).catch(() => undefined), 50);
        },
        pastedLines: async function* () {
          reads += 1;
          yield await Promise.reject(new Error('EIO'));
        },
      },
    });
    const unheard: unknown[] = [];
    const hear = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', hear);
    onTestFinished(() => void process.off('unhandledRejection', hear));
    await expect(logIn(run, { ...request, listen: true }, dialog)).rejects.toMatchObject({
      code: 'access_denied',
    });
    expect(reads).toBe(1);
    expect(unheard).toEqual([]);
  });
});

describe('a login that is interrupted', () => {
  it('while the keychain waits for a person ends as every program: no signal is caught before the address is shown', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const heard: number[] = [];
    const store = keychainStoreOf(host);
    const withItems: CredentialStore['withItems'] = (...visit) => {
      heard.push(host.signal('SIGINT'));
      return store.withItems(...visit);
    };
    const client = async () => {
      heard.push(host.signal('SIGINT'));
      return clientOf(sandbox);
    };
    const { run, dialog } = setup(host, sandbox, {
      run: { store: { ...store, withItems }, client },
      dialog: {
        showInstructions: async () => {
          heard.push(host.signal('SIGINT'));
        },
      },
    });
    await expect(logIn(run, request, dialog)).rejects.toMatchObject({ code: 'cancelled', exitCode: 130 });
    expect(heard).toEqual([0, 0, 1]);
  });

  it('while the exchange hangs ends its request: nothing keeps the program, and nothing was stored', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    let exchange: AbortSignal | undefined;
    const sleep = (ms: number): Promise<void> => (ms <= 5_000 ? Promise.resolve() : new Promise(() => {}));
    const { run, dialog, paste } = setup(host, sandbox, {
      run: {
        host: { ...host, clock: { now: host.clock.now, sleep } },
        send:
          async () =>
          (_url, { signal }) => {
            exchange = signal;
            setImmediate(() => host.signal('SIGINT'));
            return new Promise((_resolve, reject) =>
              signal.addEventListener('abort', () => reject(new SendError('aborted', true, 'given up'))),
            );
          },
      },
    });
    paste('a-code STATE');
    await expect(logIn(run, request, dialog)).rejects.toMatchObject({ code: 'cancelled', exitCode: 130 });
    expect(exchange?.aborted).toBe(true);
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).toBeUndefined();
  });
});

describe('a grant with another scope than the requested one', () => {
  interface Narrowed {
    readonly host: TestHost;
    readonly login: ReturnType<typeof logIn>;
    readonly stored: () => ReturnType<typeof storedRecord>;
    readonly isAlive: () => Promise<boolean>;
  }

  /** The implicit flow with a token of the scope `read`, where `read write` was requested. */
  async function narrowed(changes: Parameters<typeof setup>[2]): Promise<Narrowed> {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { run, dialog, paste } = setup(host, sandbox, changes);
    const { access_token: token } = await tokenFor(sandbox, { scope: 'read' });
    paste(`http://x#access_token=${token}&token_type=bearer&expires_in=60&scope=read&state=STATE`);
    const login = logIn(run, { ...request, flow: 'implicit', scope: 'read write' }, dialog);
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
    const { login, isAlive, stored } = await narrowed({ dialog: { onOtherScope } });
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
      dialog: {
        onOtherScope: (_requested, _granted, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new CliError('cancelled', 'cancelled')));
            onAsked();
          }),
      },
    });
    await asked;
    host.signal('SIGTERM');
    await expect(login).rejects.toMatchObject({ code: 'cancelled', exitCode: 143 });
    expect(await isAlive()).toBe(false);
  });

  it('is stored when a person answers yes', async () => {
    const { login, isAlive } = await narrowed({ dialog: { onOtherScope: async () => true } });
    expect((await login).record.scope).toBe('read');
    expect(await isAlive()).toBe(true);
  });

  it('is revoked when it could not be stored', async () => {
    const lock = () => Promise.reject(new CliError('busy', 'busy'));
    const { login, isAlive } = await narrowed({ dialog: { onOtherScope: 'accept' }, run: { lock } });
    await expect(login).rejects.toMatchObject({ code: 'busy' });
    expect(await isAlive()).toBe(false);
  });

  it('gives the tab its page before the question is answered', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const code = await codeFor(sandbox);
    let page: string | undefined;
    const { run, dialog } = setup(host, sandbox, {
      dialog: {
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
      },
    });
    await logIn(run, { ...request, listen: true, scope: 'read write' }, dialog);
    expect(page).toContain('<main class="waiting">');
  });
});

describe('a login without a page that needs a person', () => {
  it.each(['consent_required', 'login_required', 'interaction_required', 'account_selection_required'])(
    '%s goes on in the same tab, with a new state and PKCE',
    async (error) => {
      const sandbox = await sandboxFor();
      const urls: URL[] = [];
      const { run, dialog } = setup(testHost(), sandbox, {
        dialog: {
          canContinue: true,
          showInstructions: async ({ authorizationUrl }, { isContinued }) => {
            expect(isContinued).toBe(urls.length > 0);
            urls.push(new URL(authorizationUrl));
          },
        },
      });
      const accountHint = userOf(sandbox, MAYA).uuid.slice(0, 6);
      const login = logIn(run, { ...request, prompt: 'none', accountHint, listen: true, pkce: true }, dialog);
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

describe('the session of a login', () => {
  const accessToken = new Secret('at-1');
  const servers = {
    ready: {
      auth_url: 'https://a.example',
      base_url: 'https://b.example',
      client_id: 'c',
      callback_url: 'http://127.0.0.1:1/callback',
    },
  };

  function runOn(host = testHost(), changes: Partial<SessionRun> = {}) {
    let held = 0;
    const run = sessionRun(host, servers, {
      lock: async () => {
        held += 1;
        return { descriptor: -1, release: () => void held-- };
      },
      ...changes,
    });
    return { run, host, stored: () => storedRecord(run.store.place), held: () => held };
  }

  it('has the tokens, a new session id and key and generation 1, and the account beside it', async () => {
    const { run, host, stored, held } = runOn();
    const info = { uuid: 'u-1' };
    const grant = { accessToken, refreshToken: new Secret('rt-1'), expiresIn: 60, scope: 'read', info };
    const result = await storeLogin(run, grant, { scope: 'write read', flow: 'code' });
    expect(stored()).toMatchObject({
      ...{ gen: 1, scope: 'read write', accountUuid: 'u-1' },
      ...{ authOrigin: 'https://a.example', baseOrigin: 'https://b.example', clientId: 'c' },
    });
    expect(stored()?.sid).toMatch(/^[0-9a-f]{16}$/);
    expect(stored()?.refreshToken?.reveal()).toBe('rt-1');
    expect(readAccount(host.folders.config, 'default')).toEqual(result.account);
    expect(result).toMatchObject({ isScopeAssumed: false, isLifetimeAssumed: false, isAccountKnown: true });
    expect(held()).toBe(0);
  });

  it('says what the grant did not contain', async () => {
    const { run } = runOn();
    const result = await storeLogin(run, { accessToken }, { scope: 'read', flow: 'code' });
    expect(result).toMatchObject({ isScopeAssumed: true, isLifetimeAssumed: true, isAccountKnown: false });
    expect(result.record.expiresAt - result.record.obtainedAt).toBe(30 * 86_400);
  });

  it('that is too long for the store is refused before the lock is taken', async () => {
    const host = testHost();
    const store = { ...createFileStore(profilePaths(host.folders.state, 'default')), maxLength: 100 };
    const { run, stored } = runOn(host, { store, lock: () => Promise.reject(new Error('locked')) });
    const login = storeLogin(run, { accessToken }, { scope: 'read', flow: 'code' });
    await expect(login).rejects.toMatchObject({ code: 'keychain_unavailable' });
    expect(stored()).toBeUndefined();
  });

  it('is not ended by a file of names that cannot be written', async () => {
    const { run, host, stored } = runOn();
    mkdirSync(host.folders.config, { recursive: true });
    writeFileSync(join(host.folders.config, 'accounts'), 'no folder');
    const account = { sid: '0', scope: 'read', scope_verified: true, flow: 'code' } as const;
    expect(() => storeAccount(host.folders.config, 'default', account)).toThrow();
    await storeLogin(run, { accessToken }, { scope: 'read', flow: 'code' });
    expect(stored()?.accessToken.reveal()).toBe('at-1');
  });

  it('is not put in doubt by the journal of a session that is gone', async () => {
    const { run, host, stored } = runOn();
    const grant = { accessToken, refreshToken: new Secret('rt-1') };
    const { record } = await storeLogin(run, grant, { scope: 'read', flow: 'code' });
    // A refresh of it got no response, and then its record was removed, as the start of another sandbox does.
    (await beginRefresh(run.store, host, record)).close();
    await run.store.withItems((items) => items.remove('credential'));
    const next = await storeLogin(run, grant, { scope: 'read', flow: 'code' });
    expect(stored()?.sid).toBe(next.record.sid);
    const found = await loadSession(run.store, run.binding);
    expect(found).toMatchObject({ kind: 'found', inDoubt: false, isObsolete: false, needsRecovery: false });
  });
});
