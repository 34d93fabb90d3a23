import { describe, expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import {
  admin,
  answerConsentPage,
  authorizationQuery,
  grantFor,
  locationOf,
  MAYA,
  refreshWith,
  sandboxFor,
  send,
  signIn,
  TOMAS,
  type TokenResponseBody,
  tokenFor,
} from '../requests.ts';
import { pageText } from './page-text.ts';

async function openTokens(sandbox: Awaited<ReturnType<typeof sandboxFor>>, email = MAYA): Promise<string> {
  const cookie = await signIn(sandbox, email);
  return (await send(sandbox.ready.auth_url, '/panel/tokens', { headers: { cookie } })).body;
}

describe('GET /panel/tokens', () => {
  it('shows for each login who received the tokens and who refreshed them, and no secret', async () => {
    const sandbox = await sandboxFor();
    const { client_id } = sandbox.ready;
    const first = await grantFor(sandbox);
    const second: TokenResponseBody = JSON.parse((await refreshWith(sandbox, first.refresh_token)).body);
    const named: TokenResponseBody = JSON.parse((await refreshWith(sandbox, second.refresh_token, { client_id })).body);
    const third: TokenResponseBody = JSON.parse(
      (await admin(sandbox, 'POST', '/_sandbox/tokens/refresh', { token: named.refresh_token })).body,
    );
    await admin(sandbox, 'POST', '/_sandbox/tokens/expire', { token: third.access_token });
    const issued = await tokenFor(sandbox);
    await admin(sandbox, 'POST', '/_sandbox/tokens/revoke', { token: issued.access_token });
    const cookie = await signIn(sandbox, MAYA);
    const answer = await answerConsentPage(
      sandbox,
      cookie,
      authorizationQuery(sandbox, { response_type: 'token', state: 'x' }),
    );
    const implicit = new URLSearchParams(locationOf(answer).hash.slice(1)).get('access_token') ?? '';
    const page = await openTokens(sandbox);
    expectGolden('sandbox', pageText(page));
    for (const pair of [first, second, named, third, issued]) {
      for (const secret of [pair.access_token, pair.refresh_token]) {
        expect(page).not.toContain(secret);
        expect(page).toContain(`…${secret.slice(-4)}`);
      }
    }
    expect(page).not.toContain(implicit);
    expect(page).not.toContain(sandbox.ready.client_secret);
  });

  it('links each login to its requests', async () => {
    const sandbox = await sandboxFor();
    await grantFor(sandbox);
    const cookie = await signIn(sandbox, MAYA);
    const href = /href="(\/panel\/timeline\?client_id=[^"]+)"/.exec(await openTokens(sandbox))?.[1] ?? '';
    const [path = '', anchor = ''] = href.split('#');
    const timeline = await send(sandbox.ready.auth_url, path, { headers: { cookie } });
    expect(timeline.body).toContain(`id="${anchor}"`);
  });

  it('shows nothing of another person', async () => {
    const sandbox = await sandboxFor();
    const { access_token } = await grantFor(sandbox);
    const page = await openTokens(sandbox, TOMAS);
    expect(page).not.toContain(access_token.slice(-4));
    expectGolden('sandbox', pageText(page));
  });
});
