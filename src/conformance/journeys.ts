import { difficultState } from './authorize.ts';
import { NotTestable } from './conformance-difference.ts';
import { type ConformanceResponse, isSuccessful } from './conformance-response.ts';
import {
  attemptCode,
  attemptGrant,
  exchangeParameters,
  postTokenRequest,
  readActions,
  readGrant,
  requestCode,
  requestGrant,
  sendRefresh,
  sendRevocation,
  type TestedCode,
  type TestedGrant,
} from './grants.ts';
import { type ServerUnderTest, shareResult } from './server-under-test.ts';

/*
 * Several statements observe the same tokens, so that a person has to authorize only a few times. The requests that some
 * servers answer by revoking every token of the grant (a second use of a code or of a refresh token) come last in theirs.
 */

/** A code of the scope `read write`, requested with a state of difficult characters. */
export function issuedCode(server: ServerUnderTest): Promise<TestedCode> {
  return shareResult(server, 'issued code', () =>
    attemptCode(server, { scope: 'read write', ...(server.visit === undefined ? { state: difficultState } : {}) }),
  );
}

/** The grant of that code, or of the given refresh token. */
export function issuedGrant(server: ServerUnderTest): Promise<TestedGrant> {
  return shareResult(server, 'issued grant', async () => {
    if (server.admin === undefined && server.visit === undefined) return attemptGrant(server);
    const code = await issuedCode(server);
    return readGrant(server, await postTokenRequest(server, exchangeParameters(server, code)));
  });
}

/** The list of actions, requested with the access token of the grant. */
export function actionsOfIssuedGrant(server: ServerUnderTest): Promise<ConformanceResponse> {
  return shareResult(server, 'actions', async () => readActions(server, (await issuedGrant(server)).accessToken));
}

/** The response to the first refresh of the grant. */
export function firstRefresh(server: ServerUnderTest): Promise<ConformanceResponse> {
  return shareResult(server, 'first refresh', async () => {
    await actionsOfIssuedGrant(server);
    return sendRefresh(server, (await issuedGrant(server)).refreshToken);
  });
}

export function refreshedGrant(server: ServerUnderTest): Promise<TestedGrant> {
  return shareResult(server, 'refreshed grant', async () => readGrant(server, await firstRefresh(server)));
}

/** The access tokens before and after the refresh, each used once after it. */
export function accessAfterRefresh(
  server: ServerUnderTest,
): Promise<{ readonly before: ConformanceResponse; readonly after: ConformanceResponse }> {
  return shareResult(server, 'access after refresh', async () => {
    const renewed = await refreshedGrant(server);
    return {
      before: await readActions(server, (await issuedGrant(server)).accessToken),
      after: await readActions(server, renewed.accessToken),
    };
  });
}

/** A revocation of the newest access token of the grant, without a header, and a use after it. */
export function revocation(server: ServerUnderTest): Promise<{
  readonly response: ConformanceResponse;
  readonly use: ConformanceResponse;
  readonly refresh: ConformanceResponse;
}> {
  return shareResult(server, 'revocation', async () => {
    const grant = await newestGrant(server);
    const before = await readActions(server, grant.accessToken);
    if (!isSuccessful(before)) throw new NotTestable(`the token is refused before the revocation: ${before.received}`);
    const response = await sendRevocation(server, grant.accessToken);
    const use = await readActions(server, grant.accessToken);
    return { response, use, refresh: await sendRefresh(server, grant.refreshToken) };
  });
}

/** The refreshed grant, or the issued one of a server that cannot refresh. Of a given refresh token, the newest successor. */
async function newestGrant(server: ServerUnderTest): Promise<TestedGrant> {
  if (server.admin === undefined && server.visit === undefined) return requestGrant(server);
  return accessAfterRefresh(server).then(
    () => refreshedGrant(server),
    () => issuedGrant(server),
  );
}

/** A second exchange of a used code, and a use of the access token after it. */
export function codeReplay(
  server: ServerUnderTest,
): Promise<{ readonly response: ConformanceResponse; readonly use: ConformanceResponse }> {
  return shareResult(server, 'code replay', async () => {
    const code = await requestCode(server, { state: server.unique() });
    const grant = readGrant(server, await postTokenRequest(server, exchangeParameters(server, code)));
    const response = await postTokenRequest(server, exchangeParameters(server, code));
    return { response, use: await readActions(server, grant.accessToken) };
  });
}

/** Ten refreshes with one refresh token at once, and one more after them. */
export function refreshReplay(
  server: ServerUnderTest,
): Promise<{ readonly parallel: readonly ConformanceResponse[]; readonly late: ConformanceResponse }> {
  return shareResult(server, 'refresh replay', async () => {
    const { refreshToken } = await requestGrant(server);
    const parallel = await Promise.all(Array.from({ length: 10 }, () => sendRefresh(server, refreshToken)));
    return { parallel, late: await sendRefresh(server, refreshToken) };
  });
}

/** An exchange with another redirect_uri, and the correct exchange of the same code after it. */
export function mismatchedExchange(
  server: ServerUnderTest,
): Promise<{ readonly wrong: ConformanceResponse; readonly right: ConformanceResponse }> {
  return shareResult(server, 'mismatched exchange', async () => {
    const code = await requestCode(server, { state: server.unique() });
    const other = `${server.client?.callbackUrl}/other`;
    const wrong = await postTokenRequest(server, exchangeParameters(server, code, { redirect_uri: other }));
    return { wrong, right: await postTokenRequest(server, exchangeParameters(server, code)) };
  });
}
