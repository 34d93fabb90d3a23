// A command of another project: `command login` and `command token`, with the configuration in the environment.
import { randomBytes } from 'node:crypto';
import { receiveAuthorization } from 'cloudctl/loopback';
import { createFileTokenStore, RefreshRefusedError, saveTokens, type Tokens, withFreshToken } from 'cloudctl/session';

const { AUTH_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', CALLBACK_URL = '', SESSION_FILE = '' } = process.env;
const store = createFileTokenStore(SESSION_FILE);

async function requestTokens(parameters: Record<string, string>, signal?: AbortSignal): Promise<Tokens> {
  const body = new URLSearchParams({ ...parameters, client_id: CLIENT_ID, client_secret: CLIENT_SECRET });
  const response = await fetch(`${AUTH_URL}/v1/oauth/token`, { method: 'POST', body, ...(signal && { signal }) });
  const grant = (await response.json()) as Record<string, string>;
  if (grant.error === 'invalid_grant') throw new RefreshRefusedError(grant.error_description ?? grant.error);
  if (grant.access_token === undefined) throw new Error(`the token endpoint replied with ${response.status}`);
  return {
    accessToken: grant.access_token,
    refreshToken: grant.refresh_token,
    expiresInSeconds: Number(grant.expires_in),
  };
}

if (process.argv[2] === 'login') {
  const state = randomBytes(32).toString('base64url');
  const request = { response_type: 'code', client_id: CLIENT_ID, scope: 'read', state };
  const { parameters, redirectUri, finish } = await receiveAuthorization({
    callbackUrl: CALLBACK_URL,
    state,
    flow: 'code',
    authorizationUrl: (uri) =>
      `${AUTH_URL}/v1/oauth/authorize?${new URLSearchParams({ ...request, redirect_uri: uri })}`,
    onListening: ({ startUrl = '' }) => console.log(startUrl),
    signal: AbortSignal.timeout(60_000),
  });
  const { code = '' } = parameters;
  await saveTokens(store, await requestTokens({ grant_type: 'authorization_code', code, redirect_uri: redirectUri }));
  await finish({ kind: 'signed_in' });
} else {
  const refresh = (refreshToken: string, signal: AbortSignal) =>
    requestTokens({ grant_type: 'refresh_token', refresh_token: refreshToken }, signal);
  const { REFUSED_TOKEN: refusedToken } = process.env;
  const { accessToken } = await withFreshToken(store, refresh, refusedToken === undefined ? {} : { refusedToken });
  console.log(accessToken);
}
