import type { SandboxHandlerContext } from '../handler-context.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { readRawQueryParameter, readRequestParameters } from '../http/request-parameters.ts';
import type { RegisteredApplication, SandboxOAuthScope } from '../records.ts';
import type { RedirectTarget } from './authorization-redirects.ts';
import type { AuthorizationRequestRule } from './authorization-rule.ts';
import { checkAccountHintParameter } from './rules/account-hint.ts';
import { validateAuthorizationRequestClient } from './rules/client.ts';
import { checkCodeChallenge } from './rules/code-challenge.ts';
import { checkPromptParameter, readPromptParameter } from './rules/prompt.ts';
import { checkRedirectUri } from './rules/redirect-uri.ts';
import { checkRepeatedParameters } from './rules/repeated-parameters.ts';
import { checkResponseType, readSupportedResponseTypeParameter } from './rules/response-type.ts';
import { checkScopeParameter, readRequestedSandboxScope } from './rules/scope.ts';

/** A validated authorization request (RFC 6749 §4.1.1). */
export interface SandboxAuthorizationRequest {
  readonly application: RegisteredApplication;
  readonly redirectTo: RedirectTarget;
  readonly responseType: 'code' | 'token';
  readonly scope: SandboxOAuthScope;
  readonly prompt: 'none' | 'select_account';
  /** The first six characters of the expected account's UUID. */
  readonly hint?: string;
  readonly challenge?: string;
}

const RULES: readonly AuthorizationRequestRule[] = [
  checkRepeatedParameters,
  checkScopeParameter,
  checkResponseType,
  checkCodeChallenge,
  checkPromptParameter,
  checkAccountHintParameter,
];

/** Applies the validation rules in order; the first rule that fails creates the reply (RFC 6749 §4.1.2.1). */
export function validateAuthorizationRequest(
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
  status: 302 | 303,
): SandboxAuthorizationRequest | SandboxHttpReply {
  const parameters = readRequestParameters(request.query, '', '');
  const application = validateAuthorizationRequestClient(parameters, service.world);
  if ('status' in application) return application;
  const redirectUri = checkRedirectUri(parameters, application);
  if (typeof redirectUri !== 'string') return redirectUri;

  const rawState = parameters.isRepeated('state') ? undefined : readRawQueryParameter(request.query, 'state');
  const redirectTo: RedirectTarget = { redirectUri, status, ...(rawState === undefined ? {} : { rawState }) };
  for (const rule of RULES) {
    const reply = rule({ parameters, application, redirectTo });
    if (reply !== undefined) return reply;
  }
  const responseType = readSupportedResponseTypeParameter(parameters) ?? 'code';
  const hint = parameters.get('i');
  const challenge = parameters.get('code_challenge');
  return {
    application,
    redirectTo,
    responseType,
    scope: readRequestedSandboxScope(parameters) ?? 'read',
    prompt: responseType === 'token' ? 'select_account' : (readPromptParameter(parameters) ?? 'select_account'),
    ...(hint === undefined ? {} : { hint }),
    ...(challenge === undefined || responseType === 'token' ? {} : { challenge }),
  };
}
