import { describe, expect, it, onTestFinished } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { SendError } from '../../src/platform/http-sender.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { Secret } from '../../src/secret.ts';
import type { Account } from '../../src/session/account.ts';
import { completeLogin } from '../../src/session/complete-login.ts';
import { encodeRecord } from '../../src/session/credential-record.ts';
import { revokeGrant } from '../../src/session/exchange-code.ts';
import { createFileStore } from '../../src/session/file-store.ts';
import { type LoginDeps, performLogin } from '../../src/session/login.ts';
import type { LoginRequest } from '../../src/session/login-request.ts';
import { profilePaths } from '../../src/session/profile-paths.ts';
import { loginCommands } from '../../src/session/suggested-commands.ts';
import { closedOrigin, reply, serverFor } from '../fixtures/broken-server.ts';
import { type TestHost, testHost } from '../fixtures/host.ts';
import { visit } from '../fixtures/login.ts';
import { bindingTo, keychainStoreOf, refreshDeps, seedSession, storedRecord } from '../fixtures/session.ts';
import { codeFor, sandboxFor, tokenFor } from '../sandbox/requests.ts';

const request: LoginRequest = {
  flow: 'code',
  scope: undefined,
  prompt: undefined,
  accountHint: undefined,
  pkce: false,
  listen: false,
  limit: 60_000,
};

interface Ground {
  readonly deps: LoginDeps;
  readonly notes: string[];
  readonly accounts: Account[];
  /** What a person pastes, once the address was shown; `STATE` becomes the state of this login. */
  paste(...lines: string[]): void;
}

function ground(host: TestHost, sandbox: Sandbox, changes: Partial<LoginDeps> = {}): Ground {
  const { store, lock, requireSafe } = refreshDeps(host, sandbox);
  const notes: string[] = [];
  const accounts: Account[] = [];
  const lines: string[] = [];
  let state = '';
  const { authOrigin, clientId } = bindingTo(sandbox);
  return {
    notes,
    accounts,
    paste: (...more) => void lines.push(...more),
    deps: {
      profile: 'default',
      binding: bindingTo(sandbox),
      client: { authOrigin, clientId, clientSecret: new Secret(sandbox.ready.client_secret), tokenParams: 'query' },
      callbackUrls: [sandbox.ready.callback_url],
      issuer: undefined,
      store,
      lock,
      requireSafe,
      tryLoginLock: () => ({ descriptor: -1, release: () => undefined }),
      createSender: () => host.createSender({ env: {}, fresh: true }),
      clock: host.clock,
      random: host.random,
      signals: host.signals,
      sanitize: (text) => text,
      isSpecServer: () => false,
      loginCommands: loginCommands('default', request, undefined),
      onOtherScope: 'refuse',
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

describe('a login by paste', () => {
  it('takes the whole address of the last page', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps, paste, accounts } = ground(host, sandbox);
    paste(`${sandbox.ready.callback_url}?code=${await codeFor(sandbox)}&state=STATE`);
    const result = await performLogin(deps, request);
    expect(result.record).toMatchObject({ gen: 1, scope: 'read' });
    expect(storedRecord(profilePaths(host.folders.state, 'default'))?.sid).toBe(result.record.sid);
    expect(accounts).toMatchObject([{ sid: result.record.sid, email: 'maya@example.com' }]);
  });

  it('takes CODE STATE, and stays armed after lines that are nothing', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps, paste, notes } = ground(host, sandbox);
    const code = await codeFor(sandbox);
    paste('', 'hello there my friend', `${sandbox.ready.callback_url}?code=${code}`, `${code} STATE`);
    await performLogin(deps, request);
    expect(notes).toEqual(['unreadable', 'incomplete']);
  });

  it('with another state ends, and nothing is exchanged', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { deps, paste } = ground(host, sandbox);
    const code = await codeFor(sandbox);
    paste(`${code} foreign-state`);
    await expect(performLogin(deps, request)).rejects.toMatchObject({ code: 'state_mismatch', exitCode: 4 });
    const again = ground(host, sandbox);
    again.paste(`${code} STATE`);
    await performLogin(again.deps, request);
  });

  it.each([
    ['code', 'unsupported_response_type', '`cloudctl auth login --flow implicit`'],
    ['code', 'unauthorized_client', '`cloudctl auth login --flow implicit`'],
    ['implicit', 'unsupported_response_type', '`cloudctl auth login`'],
    ['implicit', 'unauthorized_client', '`cloudctl auth login`'],
  ] as const)('in the flow %s that is answered with %s names the other flow', async (flow, error, command) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const asked = { ...request, flow };
    const { deps, paste } = ground(host, sandbox, { loginCommands: loginCommands('default', asked, undefined) });
    paste(`${sandbox.ready.callback_url}${flow === 'code' ? '?' : '#'}error=${error}&state=STATE`);
    const hint = `log in with the other flow: ${command}`;
    await expect(performLogin(deps, asked)).rejects.toMatchObject({ code: 'api_error', hint });
  });

  it.each([
    [true, 'query', '`cloudctl auth setup` sets them'],
    [
      false,
      'query',
      '`cloudctl auth setup` sets them; if they are right, the server may look for them elsewhere: `cloudctl config set token_params body`',
    ],
    [
      false,
      'body',
      '`cloudctl auth setup` sets them; if they are right, the server may look for them elsewhere: `cloudctl config set token_params basic`',
    ],
  ] as const)(
    'with a wrong secret, at a server that is of spec.md for certain (%s), in the way %s, says what may help',
    async (isOurs, tokenParams, hint) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const { authOrigin, clientId } = bindingTo(sandbox);
      const client = { authOrigin, clientId, clientSecret: new Secret('wrong'), tokenParams };
      const { deps, paste } = ground(host, sandbox, { client, isSpecServer: () => isOurs });
      paste(`${sandbox.ready.callback_url}?code=${await codeFor(sandbox)}&state=STATE`);
      await expect(performLogin(deps, request)).rejects.toMatchObject({ code: 'invalid_client', hint });
    },
  );

  it.each([
    ['an access token in the query', '?access_token=at&token_type=bearer'],
    ['a grant without its type', '#access_token=at'],
  ])(
    'in the flow implicit that is answered with %s, as some servers always do, names the other flow',
    async (_what, answer) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const asked = { ...request, flow: 'implicit' } as const;
      const { deps, paste } = ground(host, sandbox, { loginCommands: loginCommands('default', asked, undefined) });
      paste(`${sandbox.ready.callback_url}${answer}&state=STATE`);
      await expect(performLogin(deps, asked)).rejects.toMatchObject({
        code: 'malformed_response',
        hint: 'start again with `cloudctl auth login --flow implicit`; if it stays so, log in with the other flow: `cloudctl auth login`',
      });
    },
  );

  it.each([
    [
      'query',
      415,
      '{"message":"no"}',
      /^check auth_url .*; .*`cloudctl config set token_params body`, then `cloudctl auth login`$/,
    ],
    ['query', 200, '{}', /^check auth_url with `cloudctl config list`$/],
    ['body', 400, '', /^check auth_url with `cloudctl config list`$/],
    [
      'body',
      403,
      '{"error":"unauthorized_client"}',
      /registration .* `cloudctl auth setup` .*`cloudctl config set token_params basic`$/,
    ],
  ] as const)(
    'in the way %s, whose exchange is answered with %d %s, says what may help',
    async (tokenParams, status, body, hint) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const { origin } = await serverFor((_, response) => reply(response, status, body));
      const client = { authOrigin: origin, clientId: 'c', clientSecret: new Secret('s'), tokenParams };
      const { deps, paste } = ground(host, sandbox, { client });
      paste('a-code STATE');
      await expect(performLogin(deps, request)).rejects.toMatchObject({
        code: 'api_error',
        message: expect.stringMatching(/^could not exchange the authorization code: /),
        hint: expect.stringMatching(hint),
      });
    },
  );

  it.each([
    ['none', 'consent_required', /^log in without --prompt none: `cloudctl auth login`$/],
    ['none', 'login_required', /^log in without --prompt none: `cloudctl auth login`$/],
    [undefined, 'consent_required', /^start again with `cloudctl auth login`, sign in and agree /],
    [undefined, 'login_required', /^start again with `cloudctl auth login`, sign in and agree /],
  ] as const)(
    'with the prompt %s that is answered with %s does not blame a prompt nobody asked for',
    async (prompt, code, hint) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const { deps, paste } = ground(host, sandbox);
      paste(`${sandbox.ready.callback_url}?error=${code}&state=STATE`);
      await expect(performLogin(deps, { ...request, prompt })).rejects.toMatchObject({
        code,
        message: expect.not.stringContaining(prompt === undefined ? 'expected account' : 'nothing'),
        hint: expect.stringMatching(hint),
      });
    },
  );

  it('asks the store before the person, and the lock before both', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const invite = () => Promise.reject(new Error('invited'));
    const store = {
      ...createFileStore(profilePaths(host.folders.state, 'default')),
      withItems: () => Promise.reject(new CliError('keychain_unavailable', 'locked')),
    };
    await expect(
      performLogin(ground(host, sandbox, { showInstructions: invite, store }).deps, request),
    ).rejects.toMatchObject({
      code: 'keychain_unavailable',
    });
    const tryLoginLock = () => undefined;
    await expect(
      performLogin(ground(host, sandbox, { showInstructions: invite, store, tryLoginLock }).deps, request),
    ).rejects.toMatchObject({
      code: 'busy',
    });
  });

  it('ends the session before it: what an interrupted refresh has left of it goes, and nothing of others', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const store = keychainStoreOf(host);
    const { record } = await seedSession(host, sandbox);
    await store.withItems((items) => items.write('credential', encodeRecord(record)));
    const others = { ...record, sid: 'fedcba9876543210' };
    for (const left of [record, others]) store.journal.reserve(left, { now: 1, random: host.random }).close();
    const { deps, paste } = ground(host, sandbox, { store });
    paste(`${await codeFor(sandbox)} STATE`);
    await performLogin(deps, request);
    expect(store.journal.inspect(record).inDoubt).toBe(false);
    expect(store.journal.inspect(others).inDoubt).toBe(true);
  });

  it('has a state, a session id and a seal of its own each time', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const records = [];
    for (const _ of [1, 2]) {
      const { deps, paste } = ground(host, sandbox);
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
    const { deps } = ground(host, sandbox, {
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

describe('the exchange of a code', () => {
  it.each([
    ['that never left this machine is tried three times', 'refused', false, 3, 'unreachable'],
    ['that may have arrived is tried once', 'connection', true, 1, 'unreachable'],
    ['that nobody trusts is tried once', 'tls', false, 1, 'tls'],
  ] as const)('%s', async (_what, kind, sent, tries, code) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    let asked = 0;
    const { deps, paste } = ground(host, sandbox, {
      createSender: async () => () => {
        asked += 1;
        return Promise.reject(new SendError(kind, sent, 'no'));
      },
    });
    paste('a-code STATE');
    await expect(performLogin(deps, request)).rejects.toMatchObject({ code, exitCode: 6 });
    expect(asked).toBe(tries);
  });
});

describe('a login that is interrupted', () => {
  it('while the exchange hangs ends its request: nothing keeps the program, and nothing was stored', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    let exchange: AbortSignal | undefined;
    const { deps, paste } = ground(host, sandbox, {
      clock: { now: host.clock.now, sleep: (ms) => (ms <= 5_000 ? Promise.resolve() : new Promise(() => {})) },
      createSender:
        async () =>
        (_url, { signal }) => {
          exchange = signal;
          setImmediate(() => host.signal('SIGINT'));
          return new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => reject(new SendError('aborted', true, 'given up'))),
          );
        },
    });
    paste('a-code STATE');
    await expect(performLogin(deps, request)).rejects.toMatchObject({ code: 'cancelled', exitCode: 130 });
    expect(exchange?.aborted).toBe(true);
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).toBeUndefined();
  });
});

describe('a grant that is not kept', () => {
  async function settled(host: TestHost, sandbox: Sandbox, changes: Partial<LoginDeps>) {
    const { deps } = ground(host, sandbox, changes);
    const { access_token: token } = await tokenFor(sandbox, { scope: 'read' });
    const params = new Map(
      Object.entries({ access_token: token, token_type: 'bearer', expires_in: '60', scope: 'read', state: 'S' }),
    );
    const { validateAuthorizationResponse } = await import('../../src/oauth/authorization-response.ts');
    const judgement = validateAuthorizationResponse(params, 'fragment', { state: 'S', flow: 'implicit' });
    if (judgement === undefined) throw new Error('no response');
    const wish = { ...request, scope: 'read write' };
    return {
      token,
      settlement: completeLogin(
        { ...deps, pkce: undefined, request: wish, abandon: new AbortController().signal },
        judgement,
        'http://x',
      ),
    };
  }

  async function works(sandbox: Sandbox, token: string): Promise<boolean> {
    const { callApi } = await import('../sandbox/requests.ts');
    return (await callApi(sandbox, token, 'GET', '/v2/actions')).status === 200;
  }

  it('because of its scope is revoked at once', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { token, settlement } = await settled(host, sandbox, {});
    await expect(settlement).rejects.toMatchObject({ code: 'scope_mismatch' });
    expect(await works(sandbox, token)).toBe(false);
  });

  it.each([
    ['no', async () => false, 'scope_mismatch'],
    ['Ctrl-C', () => Promise.reject(new CliError('cancelled', 'cancelled')), 'cancelled'],
  ])('because a person said %s is revoked', async (_said, onOtherScope, code) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { token, settlement } = await settled(host, sandbox, { onOtherScope });
    const { page, conclude } = await settlement;
    expect(page).toEqual({ kind: 'unfinished' });
    await expect(conclude(AbortSignal.timeout(5_000))).rejects.toMatchObject({ code });
    expect(await works(sandbox, token)).toBe(false);
    expect(storedRecord(profilePaths(host.folders.state, 'default'))).toBeUndefined();
  });

  it('is kept when the person says yes', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { token, settlement } = await settled(host, sandbox, { onOtherScope: async () => true });
    expect((await (await settlement).conclude(AbortSignal.timeout(5_000))).record.scope).toBe('read');
    expect(await works(sandbox, token)).toBe(true);
  });

  it('because it could not be stored is revoked', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const lock = () => Promise.reject(new CliError('busy', 'busy'));
    const { token, settlement } = await settled(host, sandbox, { onOtherScope: 'accept', lock });
    await expect(settlement).rejects.toMatchObject({ code: 'busy' });
    expect(await works(sandbox, token)).toBe(false);
  });

  it('at a server that wants a form is revoked with its refresh token, and 204 is an answer as good as 200', async () => {
    const [host] = [testHost()];
    const { origin, seen } = await serverFor((_, response) => reply(response, 204, ''));
    const client = { authOrigin: origin, clientId: 'c', tokenParams: 'body' } as const;
    const grant = { accessToken: new Secret('at-1'), refreshToken: new Secret('rt-1') };
    expect(await revokeGrant({ client, createSender: () => host.createSender({ env: {}, fresh: true }) }, grant)).toBe(
      true,
    );
    expect(seen.map(({ body }) => body)).toEqual(['token=rt-1&client_id=c', 'token=at-1&client_id=c']);
  });

  it('and whose server cannot be told is abandoned without an error of its own', async () => {
    const [host] = [testHost()];
    const client = { authOrigin: await closedOrigin(), clientId: 'c', tokenParams: 'query' } as const;
    expect(
      await revokeGrant(
        { client, createSender: () => host.createSender({ env: {}, fresh: true }) },
        { accessToken: new Secret('x') },
      ),
    ).toBe(false);
  });
});
