import { oauthStateWithSpecialCharacters } from './authorize-tested-client.ts';
import { ConformanceNotTestableError } from './conformance-difference-error.ts';
import { type ConformanceResponse, isSuccessfulResponse } from './conformance-response.ts';
import {
  buildCodeExchangeParameters,
  obtainGrantedTokensOrThrowDifference,
  obtainPrerequisiteAuthorizationCode,
  obtainPrerequisiteTokens,
  requestActionList,
  requestTestAuthorizationCode,
  requireTokensOfTestedServer,
  sendConformanceRefreshRequest,
  sendTestRevocationRequest,
  sendTestTokenRequest,
  type TokensOfTestedServer,
  type UnusedAuthorizationCode,
} from './grants.ts';
import { computeOncePerServer, type ServerUnderTest } from './server-under-test.ts';

/**
 * Several statements check the same tokens, so that a person authorizes only a few times. A second use of a code or of a
 * refresh token makes some servers revoke every token, so these requests are sent last.
 */

/** Obtains an authorization code for the scope `read write`; the `state` parameter contains special characters. */
export function obtainTestAuthorizationCodeOncePerServer(server: ServerUnderTest): Promise<UnusedAuthorizationCode> {
  return computeOncePerServer(server, 'issued code', () =>
    requestTestAuthorizationCode(server, {
      scope: 'read write',
      ...(server.visit === undefined ? { state: oauthStateWithSpecialCharacters } : {}),
    }),
  );
}

/** The tokens for the authorization code of `obtainTestAuthorizationCodeOncePerServer`, or for the refresh token that the user gave. */
export function obtainTestTokensOncePerServer(server: ServerUnderTest): Promise<TokensOfTestedServer> {
  return computeOncePerServer(server, 'issued grant', async () => {
    if (server.admin === undefined && server.visit === undefined) return obtainGrantedTokensOrThrowDifference(server);
    const code = await obtainTestAuthorizationCodeOncePerServer(server);
    return requireTokensOfTestedServer(
      server,
      await sendTestTokenRequest(server, buildCodeExchangeParameters(server, code)),
    );
  });
}

/** The list of actions, requested with the access token of the test login. */
export function requestActionListOncePerServer(server: ServerUnderTest): Promise<ConformanceResponse> {
  return computeOncePerServer(server, 'actions', async () =>
    requestActionList(server, (await obtainTestTokensOncePerServer(server)).accessToken),
  );
}

/** The response to the first refresh of the test login. */
export function obtainFirstRefreshResponse(server: ServerUnderTest): Promise<ConformanceResponse> {
  return computeOncePerServer(server, 'first refresh', async () => {
    await requestActionListOncePerServer(server);
    return sendConformanceRefreshRequest(server, (await obtainTestTokensOncePerServer(server)).refreshToken);
  });
}

export function obtainRefreshedTestTokensOncePerServer(server: ServerUnderTest): Promise<TokensOfTestedServer> {
  return computeOncePerServer(server, 'refreshed grant', async () =>
    requireTokensOfTestedServer(server, await obtainFirstRefreshResponse(server)),
  );
}

/** Sends one request with the old access token and one with the new access token, both after the refresh. */
export function useAccessTokensAfterRefresh(
  server: ServerUnderTest,
): Promise<{ readonly before: ConformanceResponse; readonly after: ConformanceResponse }> {
  return computeOncePerServer(server, 'access after refresh', async () => {
    const renewed = await obtainRefreshedTestTokensOncePerServer(server);
    return {
      before: await requestActionList(server, (await obtainTestTokensOncePerServer(server)).accessToken),
      after: await requestActionList(server, renewed.accessToken),
    };
  });
}

/** Revokes the newest access token without an Authorization header, then uses the access token and the refresh token. */
export function revokeAndReuseNewestTestToken(server: ServerUnderTest): Promise<{
  readonly response: ConformanceResponse;
  readonly use: ConformanceResponse;
  readonly refresh: ConformanceResponse;
}> {
  return computeOncePerServer(server, 'revocation', async () => {
    const grant = await newestGrant(server);
    const before = await requestActionList(server, grant.accessToken);
    if (!isSuccessfulResponse(before))
      throw new ConformanceNotTestableError(`the token is refused before the revocation: ${before.received}`);
    const response = await sendTestRevocationRequest(server, grant.accessToken);
    const use = await requestActionList(server, grant.accessToken);
    return { response, use, refresh: await sendConformanceRefreshRequest(server, grant.refreshToken) };
  });
}

/**
 * The tokens after a refresh, or the first tokens if the server cannot refresh. Given a refresh token, its newest successor.
 */
async function newestGrant(server: ServerUnderTest): Promise<TokensOfTestedServer> {
  if (server.admin === undefined && server.visit === undefined) return obtainPrerequisiteTokens(server);
  return useAccessTokensAfterRefresh(server).then(
    () => obtainRefreshedTestTokensOncePerServer(server),
    () => obtainTestTokensOncePerServer(server),
  );
}

/** Exchanges the same code twice, then sends a request with the access token of the first exchange. */
export function replayAuthorizationCode(
  server: ServerUnderTest,
): Promise<{ readonly response: ConformanceResponse; readonly use: ConformanceResponse }> {
  return computeOncePerServer(server, 'code replay', async () => {
    const code = await obtainPrerequisiteAuthorizationCode(server, { state: server.unique() });
    const grant = requireTokensOfTestedServer(
      server,
      await sendTestTokenRequest(server, buildCodeExchangeParameters(server, code)),
    );
    const response = await sendTestTokenRequest(server, buildCodeExchangeParameters(server, code));
    return { response, use: await requestActionList(server, grant.accessToken) };
  });
}

/** Sends ten refreshes with the same refresh token in parallel, and one more when all have ended. */
export function sendSameRefreshTokenRepeatedly(
  server: ServerUnderTest,
): Promise<{ readonly parallel: readonly ConformanceResponse[]; readonly late: ConformanceResponse }> {
  return computeOncePerServer(server, 'refresh replay', async () => {
    const { refreshToken } = await obtainPrerequisiteTokens(server);
    const parallel = await Promise.all(
      Array.from({ length: 10 }, () => sendConformanceRefreshRequest(server, refreshToken)),
    );
    return { parallel, late: await sendConformanceRefreshRequest(server, refreshToken) };
  });
}

/** Sends a code with another redirect_uri, then the same code with the right one; returns both responses. */
export function exchangeCodeWithWrongRedirectUri(
  server: ServerUnderTest,
): Promise<{ readonly wrong: ConformanceResponse; readonly right: ConformanceResponse }> {
  return computeOncePerServer(server, 'mismatched exchange', async () => {
    const code = await obtainPrerequisiteAuthorizationCode(server, { state: server.unique() });
    const other = `${server.client?.callbackUrl}/other`;
    const wrong = await sendTestTokenRequest(
      server,
      buildCodeExchangeParameters(server, code, { redirect_uri: other }),
    );
    return { wrong, right: await sendTestTokenRequest(server, buildCodeExchangeParameters(server, code)) };
  });
}
