import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/base/secret.ts';
import { CHOICES } from '../../src/sandbox/choices.ts';
import { admin, sandboxFor, tokenFor } from '../sandbox/requests.ts';
import { unmetNeed } from './run.ts';
import { allProbes, allStatements } from './statements.ts';
import { countSandboxResults, playStatements, testedSandbox } from './tested-server.ts';

describe('the sandbox', () => {
  // It grows with each statement and choice.
  it('breaks no statement and makes every choice as docs/open-choices.md says', { timeout: 60_000 }, async () => {
    const sandbox = await sandboxFor();
    const report = await playStatements(await testedSandbox(sandbox));
    expect(report.results.filter(({ status }) => status === 'differs')).toEqual([]);
    expect(report).toMatchObject({ ok: true, left: [] });
    expect(report.counts).toEqual(countSandboxResults());
    expect(report.counts.open_choice).toBe(allProbes.length);
    // Everything else is listed with the reason why it cannot be tested.
    const untested = report.results.filter(({ status }) => status === 'not_testable');
    for (const { reason } of untested) expect(reason).toMatch(/\w/);
  });

  it.each([
    [
      'two people and one cluster',
      {
        people: [{ email: 'me@example.com' }, { email: 'you@example.com' }],
        clusters: [{ name: 'main', engine: 'postgresql' }],
      },
    ],
    [
      'a cluster of a team',
      {
        people: [{ email: 'me@example.com', teams: ['Ops'] }],
        teams: [{ name: 'Ops' }],
        applications: [{ name: 'Shop', clientId: 'shop', callbackUrls: ['https://shop.example.com/cb'] }],
        clusters: [{ name: 'main', engine: 'postgresql', owner: 'Ops' }],
        droplets: [{ name: 'web', account: 'Ops', age: '2d' }],
        clock: { startAt: '2030-01-31T12:00:00Z' },
      },
    ],
  ])('with own data breaks none either: %s', async (_what, data) => {
    const report = await playStatements(await testedSandbox(await sandboxFor({ data })));
    expect(report.results.filter(({ status }) => status === 'differs')).toEqual([]);
    expect(report.counts.holds).toBeGreaterThan(60);
  });

  it('has the same state afterwards, with the same clock and consent script', async () => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode: 'deny' });
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const before = (await admin(sandbox, 'GET', '/_sandbox/snapshot')).body;
    await playStatements(await testedSandbox(sandbox), ['12', '13', '30', '49', '54', '69', '117', 'create-names']);
    expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/snapshot')).body)).toEqual(JSON.parse(before));
  });
});

describe('without --allow-writes', () => {
  it.each(['ask', 'approve'])('nothing is created, changed or revoked (consent script: %s)', async (mode) => {
    const sandbox = await sandboxFor();
    await admin(sandbox, 'POST', '/_sandbox/consent', { mode, user: sandbox.ready.users[0]?.email });
    await admin(sandbox, 'POST', '/_sandbox/clock', { freeze: true });
    const { access_token } = await tokenFor(sandbox);
    const before = (await admin(sandbox, 'GET', '/_sandbox/snapshot')).body;
    const server = await testedSandbox(sandbox, { allowWrites: false, accessToken: new Secret(access_token) });
    const report = await playStatements(server);
    expect((await admin(sandbox, 'GET', '/_sandbox/snapshot')).body).toBe(before);
    expect(report).toMatchObject({ ok: true, writes: false, left: [] });
    expect(report.counts.holds).toBeGreaterThan(20);
    // Requests that succeeded have a safe method (RFC 9110 §9.2.1); those of other methods were refused.
    const requests = sandbox.requests();
    expect(requests.length).toBeGreaterThan(50);
    const accepted = requests.filter(({ status }) => status < 400);
    expect(accepted.filter(({ method }) => !['GET', 'HEAD', 'OPTIONS'].includes(method))).toEqual([]);
    const granted = accepted.filter(({ path, status }) => path.includes('/authorize') && status === 200);
    expect(granted).toEqual([]);
    expect(requests.filter(({ method, path }) => /PUT|DELETE/.test(method) && !path.includes('0000'))).toEqual([]);
  });

  it('the rest is not testable, and says so', async () => {
    const server = await testedSandbox(await sandboxFor(), { allowWrites: false });
    const { results, counts } = await playStatements(server, ['13', '30', '50', '71', 'revoke-unknown']);
    expect(counts.not_testable).toBe(5);
    expect(new Set(results.map(({ reason }) => reason))).toEqual(new Set(['needs --allow-writes']));
  });
});

describe('the table of statements', () => {
  const numbers = allStatements.map(({ number }) => number);

  it('has every statement once, in the order of the numbers', () => {
    expect(new Set(numbers).size).toBe(numbers.length);
    expect([...new Set(numbers.map((number) => Number.parseInt(number, 10)))]).toEqual(
      Array.from({ length: 134 }, (_, at) => at + 1),
    );
  });

  it('has a probe for each choice that a request shows, and for no other one', () => {
    const observed = CHOICES.filter((choice) => 'observed' in choice).map(({ id }) => id);
    expect(allProbes.map(({ id }) => id).toSorted()).toEqual(observed.toSorted());
  });
});

describe('what a statement needs', () => {
  it.each([
    [['client'], { client: undefined }, /--client-id/],
    [['writes', 'token'], { allowWrites: false }, /--allow-writes/],
    [['client', 'consent'], { admin: undefined }, /--browser/],
    [['grant'], { admin: undefined }, /CLOUDCTL_REFRESH_TOKEN/],
    [['token'], { admin: undefined }, /CLOUDCTL_ACCESS_TOKEN/],
    [['sandbox'], { admin: undefined }, /admin API/],
    [['cluster'], { people: undefined }, /--cluster/],
    [['client', 'secret', 'token', 'writes', 'consent', 'grant', 'cluster', 'sandbox'], {}, undefined],
  ] as const)('%j of %j', async (needs, changes, reason) => {
    const server = await testedSandbox(await sandboxFor(), changes);
    const missing = unmetNeed(server, needs);
    if (reason === undefined) expect(missing).toBeUndefined();
    else expect(missing).toMatch(reason);
  });
});

it('tokens of the environment are played by refreshing them, without a person', async () => {
  const sandbox = await sandboxFor();
  const [read, used] = [await tokenFor(sandbox), await tokenFor(sandbox)];
  const server = await testedSandbox(sandbox, {
    admin: undefined,
    people: undefined,
    accessToken: new Secret(read.access_token),
    refreshToken: new Secret(used.refresh_token),
  });
  const { results, counts } = await playStatements(server);
  expect(results.filter(({ status }) => status === 'differs')).toEqual([]);
  const holding = results.filter(({ status }) => status === 'holds').map(({ id }) => id);
  expect(holding).toEqual(expect.arrayContaining(['5', '15', '29', '51', '50', '52a', '52b', '82', '83a', '112']));
  expect(counts.holds).toBeGreaterThan(50);
});

it('no secret is part of a report, whatever a server answers', async () => {
  const sandbox = await sandboxFor();
  const { access_token } = await tokenFor(sandbox);
  const server = await testedSandbox(sandbox, { accessToken: new Secret(access_token) });
  const seen = new Set([access_token, sandbox.ready.client_secret, sandbox.ready.users[0]?.password ?? '']);
  const send: typeof server.send = async (url, { headers, body }) => {
    for (const value of Object.values(headers)) seen.add(value.replace(/^Bearer /, ''));
    // Every response repeats the request that it answers.
    const text = `<p>${url} ${body ?? ''} ${JSON.stringify(headers)}</p>`;
    return { status: 418, headers: {}, cookies: [], body: text };
  };
  const echoing = await testedSandbox(sandbox, { send, accessToken: server.accessToken });
  const report = JSON.stringify(await playStatements(echoing));
  expect(report).toContain('418');
  for (const secret of seen) if (secret.length > 20 && !secret.includes('/')) expect(report).not.toContain(secret);
});
