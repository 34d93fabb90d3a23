import { expect, it } from 'vitest';
import { expectGolden } from '../../fixtures/golden.ts';
import { sandboxFor, send, signIn, TOMAS, userOf } from '../requests.ts';
import { pageText } from './page-text.ts';

it('the home page names the person, the account and the teams', async () => {
  const sandbox = await sandboxFor();
  const cookie = await signIn(sandbox, TOMAS);
  const root = await send(sandbox.ready.auth_url, '/');
  expect([root.status, root.headers.location]).toEqual([302, '/panel']);
  const page = await send(sandbox.ready.auth_url, '/panel', { headers: { cookie } });
  for (const part of ['Tomás Okafor', TOMAS, userOf(sandbox, TOMAS).uuid, 'Harbour Works'])
    expect(page.body).toContain(part);
  expectGolden('sandbox', pageText(page.body));
});
