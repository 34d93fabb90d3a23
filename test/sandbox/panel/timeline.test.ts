import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import {
  answerConsentPage,
  authorizationQuery,
  authorize,
  callApi,
  exchangeParameters,
  locationOf,
  MAYA,
  postToken,
  refreshWith,
  sandboxFor,
  send,
  signIn,
  submit,
  TOMAS,
  type TokenResponseBody,
  tokenFor,
  userOf,
} from '../requests.ts';
import { pageText } from './page-text.ts';

async function openFixture() {
  const sandbox = await sandboxFor();
  const cookie = await signIn(sandbox, MAYA);
  const page = async (query = ''): Promise<string> =>
    (await send(sandbox.ready.auth_url, `/panel/timeline${query}`, { headers: { cookie } })).body;
  /** The step descriptions, in the order of the page. */
  const steps = async (query = ''): Promise<readonly string[]> =>
    [...(await page(query)).matchAll(/<div><strong>([^<]*)<\/strong>/g)].map(([, what = '']) => what);
  return { sandbox, cookie, page, steps };
}

describe('the timeline of a login', () => {
  it('lists the steps from the authorization request to the API calls', async () => {
    const { sandbox, page, steps } = await openFixture();
    const query = authorizationQuery(sandbox, { state: 'a+b ü', scope: 'read write' });
    const asked = await authorize(sandbox, query);
    const { email, password } = userOf(sandbox, TOMAS);
    await submit(sandbox, asked, '', { email, password: 'wrong' });
    const signedIn = await submit(sandbox, asked, '', { email, password });
    const cookie = signedIn.headers['set-cookie']?.split(';')[0] ?? '';
    const answer = await answerConsentPage(sandbox, cookie, query);
    const code = locationOf(answer).searchParams.get('code') ?? '';
    const grant: TokenResponseBody = JSON.parse((await postToken(sandbox, exchangeParameters(sandbox, code))).body);
    for (let at = 0; at < 3; at += 1) await callApi(sandbox, grant.access_token, 'GET', '/v2/droplets');
    await refreshWith(sandbox, grant.refresh_token);
    await callApi(sandbox, grant.access_token, 'GET', '/v2/actions');
    expectGolden('sandbox', pageText(await page()));
    expect(await steps()).toHaveLength(10);
    const text = await page();
    expect(text).toMatch(/<h2>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, Tomás Okafor<\/h2>/);
    expect(text).toMatch(/<span class="when">\+\d+\.\d\d s<\/span>[\s\S]*<span class="badge">303<\/span>/);
    for (const secret of [code, grant.access_token, grant.refresh_token, sandbox.ready.client_secret, password, 'a+b'])
      expect(text).not.toContain(secret);
  });

  it('lists the logins of one application, newest first, denied ones included', async () => {
    const { sandbox, cookie, page, steps } = await openFixture();
    await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox, { state: '1' }), { decision: 'deny' });
    await authorize(sandbox, authorizationQuery(sandbox, { state: '2', prompt: 'none' }), cookie);
    await authorize(sandbox, authorizationQuery(sandbox, { state: '3', redirect_uri: 'http://evil.example/' }), cookie);
    expectGolden('sandbox', pageText(await page()));
    expect(await steps()).toHaveLength(6);
    expect(await steps(`?client_id=${sandbox.world.seed.applications[1]?.clientId}`)).toEqual([]);
  });

  it('separates the logins of two people, and requests with tokens of the admin API', async () => {
    const { sandbox, cookie, page, steps } = await openFixture();
    const other = await signIn(sandbox, TOMAS);
    const tokens = [];
    for (const one of [cookie, other]) {
      const answer = await answerConsentPage(
        sandbox,
        one,
        authorizationQuery(sandbox, { state: one, response_type: 'token' }),
      );
      tokens.push(new URLSearchParams(locationOf(answer).hash.slice(1)).get('access_token') ?? '');
    }
    await callApi(sandbox, tokens[0] ?? '', 'GET', '/v2/actions');
    const text = await page();
    expect(text).toMatch(/Tomás Okafor[\s\S]*Maya Lindqvist[\s\S]*GET \/v2\/actions/);
    const { access_token } = await tokenFor(sandbox, { client_id: sandbox.world.seed.applications[1]?.clientId });
    await callApi(sandbox, access_token, 'GET', '/v2/droplets');
    const second = `?client_id=${sandbox.world.seed.applications[1]?.clientId}`;
    expect(await steps(second)).toHaveLength(1);
    expectGolden('sandbox', pageText(await page(second)));
  });

  it('has each request under the login that its token comes from, also after a later login', async () => {
    const { sandbox, cookie, page } = await openFixture();
    const logIn = async (state: string): Promise<TokenResponseBody> => {
      const answer = await answerConsentPage(sandbox, cookie, authorizationQuery(sandbox, { state }));
      const code = locationOf(answer).searchParams.get('code') ?? '';
      return JSON.parse((await postToken(sandbox, exchangeParameters(sandbox, code))).body);
    };
    const first = await logIn('1');
    const second = await logIn('2');
    await callApi(sandbox, second.access_token, 'GET', '/v2/actions');
    const renewed: TokenResponseBody = JSON.parse((await refreshWith(sandbox, first.refresh_token)).body);
    await callApi(sandbox, renewed.access_token, 'GET', '/v2/droplets');
    await callApi(sandbox, first.access_token, 'GET', '/v2/sizes');
    const [, ...sections] = (await page()).split('<section class="group"');
    expect(sections.map((section) => [...section.matchAll(/GET (\/v2\/\w+)/g)].map(([, path]) => path))).toEqual([
      ['/v2/actions'],
      ['/v2/droplets', '/v2/sizes'],
    ]);
    for (const section of sections) expect(section).toContain('/v1/oauth/authorize');
  });

  it('shows faults and no state parameters', async () => {
    const { sandbox, cookie, page } = await openFixture();
    sandbox.faults.add({ match: { path: '/v1/oauth/authorize' }, action: 'commit_then_drop' });
    await expect(authorize(sandbox, authorizationQuery(sandbox, { state: '<b>' }), cookie)).rejects.toThrow();
    const text = await page();
    expect(text).toContain('fault commit_then_drop');
    expectGolden('sandbox', pageText(text));
    expect(text).not.toContain('<b>');
  });
});
