import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/api/client.ts';
import { storeAccount } from '../../../src/auth/session/account.ts';
import { profilePaths } from '../../../src/auth/session/paths.ts';
import {
  fixedProvider,
  ReplacedSessionError,
  type StoredProvider,
  storedProvider,
  withReauthentication,
} from '../../../src/auth/session/provider.ts';
import { encodeRecord } from '../../../src/auth/session/record.ts';
import { reportedState } from '../../../src/auth/session/report.ts';
import type { SessionRun } from '../../../src/auth/session/run.ts';
import { CliError } from '../../../src/base/errors.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { SandboxServers } from '../../../src/sandbox/sandbox.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { errorText } from '../../fixtures/error-text.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { type TestHost, testHost } from '../../fixtures/host.ts';
import { bindingTo, seedSession, sessionRun, storedRecord } from '../../fixtures/session.ts';
import { admin, callApi, sandboxFor, tokenFor } from '../../sandbox/requests.ts';

const day = 86_400_000;

/** How often the server was asked for a refresh. */
async function refreshes(sandbox: SandboxServers): Promise<number> {
  const answer = await admin(sandbox, 'GET', '/_sandbox/requests?endpoint=POST%20/v1/oauth/token');
  const { requests }: { requests: { grant_type?: string }[] } = JSON.parse(answer.body);
  return requests.filter(({ grant_type }) => grant_type === 'refresh_token').length;
}

async function accepts(sandbox: SandboxServers, token: Secret): Promise<boolean> {
  return (await callApi(sandbox, token.reveal(), 'GET', '/v2/actions')).status === 200;
}

/** Everybody's time goes on. */
async function pass(host: TestHost, sandbox: SandboxServers, ms: number): Promise<void> {
  host.clock.advance(ms);
  await admin(sandbox, 'POST', '/_sandbox/clock', { advance: ms });
}

/** A session as another process would have it: the same files, nothing else in common. */
function sibling(host: TestHost, sandbox: SandboxServers, changes: Partial<SessionRun> = {}) {
  return storedProvider(sessionRun(testHost({ beside: host }), sandbox, changes));
}

describe('the bearer', () => {
  it('is the stored token as long as it lives, and nobody is asked', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    await pass(host, sandbox, 29 * day);
    const session = sibling(host, sandbox);
    expect((await session.bearer()).reveal()).toBe(grant.access_token);
    expect((await session.record()).gen).toBe(1);
    expect(await refreshes(sandbox)).toBe(0);
  });

  it.each([
    ['301 s before its end', 30 * day - 301_000, 0],
    ['299 s before its end', 30 * day - 299_000, 1],
    ['after its end', 31 * day, 1],
  ])('is renewed from five minutes before its end: %s', async (_when, age, expected) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    await pass(host, sandbox, age);
    expect(await accepts(sandbox, await sibling(host, sandbox).bearer())).toBe(true);
    expect(await refreshes(sandbox)).toBe(expected);
  });

  it('is asked for at once by many and renewed once', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    await pass(host, sandbox, 31 * day);
    let locked = 0;
    const { lock } = sessionRun(host, sandbox);
    const counted = () => {
      locked += 1;
      return lock();
    };
    const session = sibling(host, sandbox, { lock: counted });
    const bearers = await Promise.all(Array.from({ length: 20 }, () => session.bearer()));
    expect(locked).toBe(1);
    expect(new Set(bearers.map((bearer) => bearer.reveal())).size).toBe(1);
    expect(await refreshes(sandbox)).toBe(1);
  });

  it('of twenty sessions on one expired token is renewed exactly once, and all twenty can work', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { stored } = await seedSession(host, sandbox);
    await pass(host, sandbox, 31 * day);
    const bearers = await Promise.all(Array.from({ length: 20 }, () => sibling(host, sandbox).bearer()));
    expect(await refreshes(sandbox)).toBe(1);
    expect(stored()?.gen).toBe(2);
    for (const bearer of bearers) expect(await accepts(sandbox, bearer)).toBe(true);
  });

  it('that expires soon and cannot be renewed serves to its end', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { record } = await seedSession(host, sandbox);
    const { refreshToken: _none, ...bare } = record;
    const run = sessionRun(host, sandbox);
    await run.store.withItems((items) => items.write('credential', encodeRecord(bare)));
    await pass(host, sandbox, 30 * day - 60_000);
    expect((await storedProvider(run).bearer()).reveal()).toBe(record.accessToken.reveal());
    await pass(host, sandbox, 120_000);
    await expect(storedProvider(run).bearer()).rejects.toMatchObject({
      code: 'needs_login',
      exitCode: 4,
    });
  });
});

describe('a refused token', () => {
  it('is renewed when it is still the current one', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    const session = sibling(host, sandbox);
    const refused = await session.bearer();
    await admin(sandbox, 'POST', '/_sandbox/tokens/expire', { token: refused.reveal() });
    const renewed = await session.renew(refused);
    expect(await accepts(sandbox, renewed)).toBe(true);
    expect((await session.bearer()).reveal()).toBe(renewed.reveal());
    expect(await refreshes(sandbox)).toBe(1);
  });

  it('that this process has just renewed is returned, because another refresh would be refused as well', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    const session = sibling(host, sandbox);
    const renewed = await session.renew(await session.bearer());
    expect((await session.renew(renewed)).reveal()).toBe(renewed.reveal());
    expect(await refreshes(sandbox)).toBe(1);
  });

  it('that this process renewed a minute ago is renewed again', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    let now = host.clock.now();
    const run = sessionRun({ ...host, clock: { ...host.clock, now: () => now } }, sandbox);
    const session = storedProvider(run);
    const renewed = await session.renew(await session.bearer());
    now += 60_000;
    expect((await session.renew(renewed)).reveal()).not.toBe(renewed.reveal());
    expect(await refreshes(sandbox)).toBe(2);
  });

  it('that a sibling renewed is taken over without a refresh', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    const session = sibling(host, sandbox);
    const refused = await session.bearer();
    const other = await sibling(host, sandbox).forceRefresh();
    expect((await session.renew(refused)).reveal()).toBe(other.accessToken.reveal());
    expect(await refreshes(sandbox)).toBe(1);
  });

  it('of many requests at once is renewed once', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    const session = sibling(host, sandbox);
    const refused = await session.bearer();
    const renewed = await Promise.all(Array.from({ length: 10 }, () => session.renew(refused)));
    expect(new Set(renewed.map((token) => token.reveal())).size).toBe(1);
    expect(await refreshes(sandbox)).toBe(1);
  });

  it('without a refresh token is a login', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { record } = await seedSession(host, sandbox);
    const { refreshToken: _none, ...bare } = record;
    const run = sessionRun(host, sandbox);
    await run.store.withItems((items) => items.write('credential', encodeRecord(bare)));
    await expect(storedProvider(run).renew(record.accessToken)).rejects.toMatchObject({
      code: 'needs_login',
    });
    // The resource API takes the token still: whatever refused it was passing.
    expect(storedRecord(profilePaths(host.folders.state, 'default'))?.expiresAt).toBe(record.expiresAt);
  });

  it('without a refresh token, and refused a second time, ends the session: what is stored says so', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { record, grant } = await seedSession(host, sandbox);
    const { refreshToken: _none, ...bare } = record;
    storeAccount(host.folders.config, 'default', {
      ...{ sid: record.sid, scope: record.scope, scope_verified: false },
      flow: 'implicit',
    });
    const run = sessionRun(host, sandbox);
    await run.store.withItems((items) => items.write('credential', encodeRecord(bare)));
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: grant.access_token });
    const hint = expect.stringMatching(/^`cloudctl auth login --flow implicit /);
    const ended = { code: 'needs_login', hint };
    await expect(storedProvider(run).renew(record.accessToken)).rejects.toMatchObject(ended);
    await expect(storedProvider(run).bearer()).rejects.toMatchObject(ended);
    const stored = storedRecord(profilePaths(host.folders.state, 'default'));
    expect(stored === undefined ? undefined : reportedState(stored, host.clock.now())).toBe('needs_login');
  });

  it('of a session that was revoked is a login, and the next command knows it without a request', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox);
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: grant.access_token });
    const session = sibling(host, sandbox);
    const refused = await session.bearer();
    await expect(session.renew(refused)).rejects.toMatchObject({ code: 'needs_login' });
    await expect(sibling(host, sandbox).bearer()).rejects.toMatchObject({ code: 'needs_login' });
    expect(await refreshes(sandbox)).toBe(1);
  });

  it('in the middle of a call is renewed, and the call succeeds', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor({ unknownTokenStatus: 401 })];
    const { grant } = await seedSession(host, sandbox);
    await admin(sandbox, 'POST', '/_sandbox/tokens/refresh', { token: grant.access_token });
    const fresh = await tokenFor(sandbox);
    const session = sibling(host, sandbox);
    await session.bearer();
    const { record } = await seedSession(host, sandbox, {
      record: { gen: 2, accessToken: new Secret(fresh.access_token) },
    });
    const api = createClient({
      baseOrigin: sandbox.ready.base_url,
      send: await host.createSender({ env: {} }),
      bearer: session.bearer,
      renew: session.renew,
      clock: host.clock,
      timeout: 5_000,
      loginHints: workLoginHints,
    });
    await expect(api.json({ method: 'GET', path: '/v2/actions' })).resolves.toMatchObject({ meta: {} });
    expect(record.gen).toBe(2);
    expect(await refreshes(sandbox)).toBe(0);
  });
});

describe('a forced refresh', () => {
  it('happens although none is due', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant, stored } = await seedSession(host, sandbox);
    const record = await sibling(host, sandbox).forceRefresh();
    expect(record.gen).toBe(2);
    expect(stored()?.accessToken.reveal()).toBe(record.accessToken.reveal());
    expect(await accepts(sandbox, new Secret(grant.access_token))).toBe(false);
  });

  it('of two at once happens once', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await seedSession(host, sandbox);
    const [a, b] = await Promise.all([sibling(host, sandbox).forceRefresh(), sibling(host, sandbox).forceRefresh()]);
    expect([a.gen, b.gen].sort()).toEqual([2, 2]);
    expect(await refreshes(sandbox)).toBe(1);
  });
});

describe('a stored session', () => {
  it('that is missing is not logged in', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    await expect(sibling(host, sandbox).bearer()).rejects.toMatchObject({
      code: 'not_logged_in',
      exitCode: 4,
      hint: '`cloudctl auth login`',
    });
  });

  it.each([
    ['another authorization server', { authOrigin: 'http://127.0.0.1:1' }],
    ['another resource API', { baseOrigin: 'http://127.0.0.1:1' }],
    ['another client id', { clientId: 'other' }],
  ])('of %s is never used', async (_what, changes) => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { stored, grant } = await seedSession(host, sandbox);
    const session = sibling(host, sandbox, { binding: { ...bindingTo(sandbox), ...changes } });
    await expect(session.bearer()).rejects.toMatchObject({
      code: 'not_logged_in',
      message: expect.stringContaining('other servers'),
    });
    await expect(session.forceRefresh()).rejects.toMatchObject({ code: 'not_logged_in' });
    expect(stored()?.accessToken.reveal()).toBe(grant.access_token);
    expect(await refreshes(sandbox)).toBe(0);
  });

  it('that is damaged is told and left as it is', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const run = sessionRun(host, sandbox);
    await run.store.withItems((items) => items.write('credential', new Secret('{"v":2,"access_token":"hunter2"}')));
    const failure = await storedProvider(run)
      .bearer()
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'not_logged_in' });
    expectGolden('errors', errorText(failure));
    expect(JSON.stringify(failure)).not.toContain('hunter2');
    const item = await run.store.withItems((items) => items.read('credential'));
    expect(item.kind).toBe('found');
  });
});

describe('a login as another team while a command runs', () => {
  it.each(['renew', 'bearer'] as const)(
    'ends the session of the command at its next %s; it never acts as the other',
    async (call) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const { grant } = await seedSession(host, sandbox, {
        context: 'team',
        record: { expiresAt: host.clock.now() / 1000 + 400, obtainedAt: host.clock.now() / 1000 - 3600 },
      });
      const session = sibling(host, sandbox);
      expect((await session.bearer()).reveal()).toBe(grant.access_token);
      await seedSession(host, sandbox, { context: 'personal', record: { sid: 'fedcba9876543210' } });
      const next = call === 'renew' ? session.renew(new Secret(grant.access_token)) : laterBearer(session, host);
      await expect(next).rejects.toMatchObject({ code: 'needs_login', exitCode: 4 });
      await expect(session.renew(new Secret(grant.access_token))).rejects.toMatchObject({ code: 'needs_login' });
    },
  );

  it('of the same team goes on with the new session', async () => {
    const [host, sandbox] = [testHost(), await sandboxFor()];
    const { grant } = await seedSession(host, sandbox, { context: 'team' });
    const session = sibling(host, sandbox);
    await session.bearer();
    const next = await seedSession(host, sandbox, { context: 'team', record: { sid: 'fedcba9876543210' } });
    expect((await session.renew(new Secret(grant.access_token))).reveal()).toBe(next.grant.access_token);
  });
});

describe('a login while a command runs, of which no account is known', () => {
  it.each(['personal', undefined] as const)(
    'ends the session of the command whose account is %s, unless the user of this command logged in',
    async (context) => {
      const [host, sandbox] = [testHost(), await sandboxFor()];
      const first = await seedSession(host, sandbox, context === undefined ? {} : { context });
      const session = sibling(host, sandbox);
      await session.bearer();
      const next = await seedSession(host, sandbox, { record: { sid: 'fedcba9876543210' } });
      const refused = new Secret(first.grant.access_token);
      await expect(session.renew(refused)).rejects.toMatchObject({ code: 'needs_login' });
      expect(next.stored()).toMatchObject({ sid: 'fedcba9876543210', gen: 1 });
      session.acceptNewSession();
      expect((await session.bearer()).reveal()).toBe(next.grant.access_token);
    },
  );
});

/** A session that has ended until somebody logs in. */
function ended(code: 'needs_login' | 'unreachable' = 'needs_login') {
  const state = { isBack: false, asked: 0, accepted: 0 };
  const bearer = async (): Promise<Secret> => {
    if (!state.isBack) throw new CliError(code, 'it has ended');
    return new Secret('at-new');
  };
  const none = (): Promise<never> => Promise.reject(new CliError(code, 'it has ended'));
  const acceptNewSession = (): void => {
    state.accepted += 1;
  };
  const session: StoredProvider = {
    bearer,
    renew: bearer,
    record: none,
    forceRefresh: none,
    acceptNewSession,
  };
  const reauthenticate = (answer: boolean) => async () => {
    state.asked += 1;
    state.isBack = answer;
    return answer;
  };
  return { state, session, reauthenticate };
}

describe('the way back', () => {
  it('is offered once to all who ask for a token, and they go on', async () => {
    const { session, reauthenticate, state } = ended();
    const offered = withReauthentication(session, reauthenticate(true));
    const tokens = await Promise.all([offered.bearer(), offered.renew(new Secret('old')), offered.bearer()]);
    expect(tokens.map((token) => token.reveal())).toEqual(['at-new', 'at-new', 'at-new']);
    expect(state).toMatchObject({ asked: 1, accepted: 1 });
  });

  it('that is declined leaves the error, and is not offered again', async () => {
    const { session, reauthenticate, state } = ended();
    const offered = withReauthentication(session, reauthenticate(false));
    await expect(offered.bearer()).rejects.toMatchObject({ code: 'needs_login' });
    await expect(offered.record()).rejects.toMatchObject({ code: 'needs_login' });
    expect(state).toMatchObject({ asked: 1, accepted: 0 });
  });

  it('that fails tells why', async () => {
    const { session } = ended();
    const offered = withReauthentication(session, () =>
      Promise.reject(new CliError('login_required', 'not signed in')),
    );
    await expect(offered.forceRefresh()).rejects.toMatchObject({ code: 'login_required' });
  });

  it('is not offered when another login has replaced the session, which may be of another account', async () => {
    const { session, reauthenticate, state } = ended();
    const replaced = { ...session, renew: () => Promise.reject(new ReplacedSessionError('needs_login', 'replaced')) };
    const offered = withReauthentication(replaced, reauthenticate(true));
    await expect(offered.renew(new Secret('old'))).rejects.toMatchObject({ code: 'needs_login' });
    expect(state.asked).toBe(0);
  });

  it('is not offered for anything else', async () => {
    const { session, reauthenticate, state } = ended('unreachable');
    await expect(withReauthentication(session, reauthenticate(true)).bearer()).rejects.toMatchObject({
      code: 'unreachable',
    });
    expect(state.asked).toBe(0);
  });
});

describe('a token of the environment', () => {
  const session = fixedProvider(new Secret('mine'));

  it('is used as it is', async () => {
    expect((await session.bearer()).reveal()).toBe('mine');
  });

  it('cannot be renewed, and has no record', async () => {
    await expect(session.renew(new Secret('mine'))).rejects.toMatchObject({ code: 'token_refused', exitCode: 4 });
    await expect(session.forceRefresh()).rejects.toMatchObject({ code: 'usage' });
    await expect(session.record()).rejects.toMatchObject({ code: 'usage' });
  });
});

/** The token after the first one has come near its end. */
async function laterBearer(session: ReturnType<typeof sibling>, host: TestHost): Promise<Secret> {
  host.clock.advance(300_000);
  return session.bearer();
}
