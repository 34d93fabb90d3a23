import { oauthStateWithSpecialCharacters } from './authorize-tested-client.ts';
import { ConformanceNotTestableError } from './conformance-difference-error.ts';
import { type ConformanceResponse, isSuccessfulResponse } from './conformance-response.ts';
import {
  buildCodeExchangeParameters,
  obtainGrantedTokens,
  postTokenRequest,
  readGrantedTokens,
  requestActionList,
  requestAuthorizationCode,
  sendRefresh,
  sendRevocation,
  type TestOAuthGrant,
  tryObtainGrantedTokens,
  tryRequestAuthorizationCode,
  type UnusedAuthorizationCode,
} from './grants.ts';
import { computeOncePerServer, type ServerUnderTest } from './server-under-test.ts';

/*
 * Several statements observe the same tokens, so that a person has to authorize only a few times. The requests that some
 * servers answer by revoking every token of the grant (a second use of a code or of a refresh token) come last in theirs.
 */

/** A code of the scope `read write`, requested with a state of difficult characters. */
export function obtainTestAuthorizationCode(server: ServerUnderTest): Promise<UnusedAuthorizationCode> {
  return computeOncePerServer(server, 'issued code', () =>
    tryRequestAuthorizationCode(server, {
      scope: 'read write',
      ...(server.visit === undefined ? { state: oauthStateWithSpecialCharacters } : {}),
    }),
  );
}

/** The grant of that code, or of the given refresh token. */
export function obtainTestOAuthGrant(server: ServerUnderTest): Promise<TestOAuthGrant> {
  return computeOncePerServer(server, 'issued grant', async () => {
    if (server.admin === undefined && server.visit === undefined) return tryObtainGrantedTokens(server);
    const code = await obtainTestAuthorizationCode(server);
    return readGrantedTokens(server, await postTokenRequest(server, buildCodeExchangeParameters(server, code)));
  });
}

/** The list of actions, requested with the access token of the grant. */
export function listActionsWithTestOAuthGrant(server: ServerUnderTest): Promise<ConformanceResponse> {
  return computeOncePerServer(server, 'actions', async () =>
    requestActionList(server, (await obtainTestOAuthGrant(server)).accessToken),
  );
}

/** The response to the first refresh of the grant. */
export function refreshTestOAuthGrantOnce(server: ServerUnderTest): Promise<ConformanceResponse> {
  return computeOncePerServer(server, 'first refresh', async () => {
    await listActionsWithTestOAuthGrant(server);
    return sendRefresh(server, (await obtainTestOAuthGrant(server)).refreshToken);
  });
}

export function obtainRefreshedTestOAuthGrant(server: ServerUnderTest): Promise<TestOAuthGrant> {
  return computeOncePerServer(server, 'refreshed grant', async () =>
    readGrantedTokens(server, await refreshTestOAuthGrantOnce(server)),
  );
}

/** The access tokens before and after the refresh, each used once after it. */
export function useAccessTokensAfterRefresh(
  server: ServerUnderTest,
): Promise<{ readonly before: ConformanceResponse; readonly after: ConformanceResponse }> {
  return computeOncePerServer(server, 'access after refresh', async () => {
    const renewed = await obtainRefreshedTestOAuthGrant(server);
    return {
      before: await requestActionList(server, (await obtainTestOAuthGrant(server)).accessToken),
      after: await requestActionList(server, renewed.accessToken),
    };
  });
}

/** A revocation of the newest access token of the grant, without a header, and a use after it. */
export function revokeNewestTestToken(server: ServerUnderTest): Promise<{
  readonly response: ConformanceResponse;
  readonly use: ConformanceResponse;
  readonly refresh: ConformanceResponse;
}> {
  return computeOncePerServer(server, 'revocation', async () => {
    const grant = await newestGrant(server);
    const before = await requestActionList(server, grant.accessToken);
    if (!isSuccessfulResponse(before))
      throw new ConformanceNotTestableError(`the token is refused before the revocation: ${before.received}`);
    const response = await sendRevocation(server, grant.accessToken);
    const use = await requestActionList(server, grant.accessToken);
    return { response, use, refresh: await sendRefresh(server, grant.refreshToken) };
  });
}

/** The refreshed grant, or the issued one of a server that cannot refresh. Of a given refresh token, the newest successor. */
async function newestGrant(server: ServerUnderTest): Promise<TestOAuthGrant> {
  if (server.admin === undefined && server.visit === undefined) return obtainGrantedTokens(server);
  return useAccessTokensAfterRefresh(server).then(
    () => obtainRefreshedTestOAuthGrant(server),
    () => obtainTestOAuthGrant(server),
  );
}

/** A second exchange of a used code, and a use of the access token after it. */
export function replayAuthorizationCode(
  server: ServerUnderTest,
): Promise<{ readonly response: ConformanceResponse; readonly use: ConformanceResponse }> {
  return computeOncePerServer(server, 'code replay', async () => {
    const code = await requestAuthorizationCode(server, { state: server.unique() });
    const grant = readGrantedTokens(server, await postTokenRequest(server, buildCodeExchangeParameters(server, code)));
    const response = await postTokenRequest(server, buildCodeExchangeParameters(server, code));
    return { response, use: await requestActionList(server, grant.accessToken) };
  });
}

/** Ten refreshes with one refresh token at once, and one more after them. */
export function replayRefreshToken(
  server: ServerUnderTest,
): Promise<{ readonly parallel: readonly ConformanceResponse[]; readonly late: ConformanceResponse }> {
  return computeOncePerServer(server, 'refresh replay', async () => {
    const { refreshToken } = await obtainGrantedTokens(server);
    const parallel = await Promise.all(Array.from({ length: 10 }, () => sendRefresh(server, refreshToken)));
    return { parallel, late: await sendRefresh(server, refreshToken) };
  });
}

/** An exchange with another redirect_uri, and the correct exchange of the same code after it. */
export function exchangeCodeWithWrongRedirectUri(
  server: ServerUnderTest,
): Promise<{ readonly wrong: ConformanceResponse; readonly right: ConformanceResponse }> {
  return computeOncePerServer(server, 'mismatched exchange', async () => {
    const code = await requestAuthorizationCode(server, { state: server.unique() });
    const other = `${server.client?.callbackUrl}/other`;
    const wrong = await postTokenRequest(server, buildCodeExchangeParameters(server, code, { redirect_uri: other }));
    return { wrong, right: await postTokenRequest(server, buildCodeExchangeParameters(server, code)) };
  });
}
