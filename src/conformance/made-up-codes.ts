import { readStringField } from '../base/json.ts';
import type { Secret } from '../base/secret.ts';
import {
  type ConformanceResponse,
  isSuccessfulResponse,
  readConformanceResponseJson,
  requireResponseCondition,
} from './conformance-response.ts';
import { buildCodeExchangeParameters, obtainPrerequisiteAuthorizationCode, sendTestTokenRequest } from './grants.ts';
import { advanceSandboxClock, withFrozenClock } from './sandbox-people.ts';
import { type RequestParameterValues, registerRedactedSecret, type ServerUnderTest } from './server-under-test.ts';

export const codeExchangeParameterNames = ['grant_type', 'code', 'client_id', 'client_secret', 'redirect_uri'] as const;

/** Credentials that are wrong, unknown or missing. */
export const wrongClientCredentialParameters: readonly RequestParameterValues[] = [
  { client_secret: 'a-wrong-client-secret' },
  { client_id: 'an-unknown-client-id' },
  { client_secret: undefined },
  { client_id: undefined, client_secret: undefined },
];

/** Sends an exchange with a code that no server issued, so the request cannot produce a token. */
export function exchangeMadeUpCode(
  server: ServerUnderTest,
  changes: RequestParameterValues = {},
): Promise<ConformanceResponse> {
  return sendTestTokenRequest(server, buildMadeUpCodeExchange(server, changes));
}

/** The parameters of an exchange with a code that no server issued. */
export function buildMadeUpCodeExchange(
  server: ServerUnderTest,
  changes: RequestParameterValues = {},
): RequestParameterValues {
  const code = { code: createMadeUpSecret(server, '[code]'), verifier: undefined };
  return buildCodeExchangeParameters(server, code, changes);
}

export function createMadeUpSecret(server: ServerUnderTest, shown: string): Secret {
  return registerRedactedSecret(server, `madeup${server.unique()}${server.unique()}`, shown);
}

/** Advances the virtual clock between the issue of a code and its exchange. */
export function exchangeCodeAfterClockAdvance(server: ServerUnderTest, step: string): Promise<ConformanceResponse> {
  return withFrozenClock(server, async () => {
    const code = await obtainPrerequisiteAuthorizationCode(server);
    await advanceSandboxClock(server, step);
    return sendTestTokenRequest(server, buildCodeExchangeParameters(server, code));
  });
}

/** Throws ConformanceDifferenceError unless the response is an error with any code. */
export function requireResponseIsTokenError(response: ConformanceResponse): void {
  const error = readStringField(readConformanceResponseJson(response) ?? {}, 'error') ?? '';
  requireResponseCondition(!isSuccessfulResponse(response) && error !== '', 'a JSON body with an error', response);
}
