import { rawParameter, readParameters } from '../http/parameters.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Application, Scope } from '../records.ts';
import type { Service } from '../service.ts';
import type { Return } from './redirects.ts';
import type { Rule } from './rule.ts';
import { challengeIsS256 } from './rules/challenge.ts';
import { clientIsKnown } from './rules/client.ts';
import { hintIsWellFormed } from './rules/hint.ts';
import { promptIsKnown, readPrompt } from './rules/prompt.ts';
import { redirectUriIsRegistered } from './rules/redirect-uri.ts';
import { nothingIsRepeated } from './rules/repeated.ts';
import { readResponseType, responseTypeIsKnown } from './rules/response-type.ts';
import { readScope, scopeIsKnown } from './rules/scope.ts';

/** An authorization request whose every parameter was judged. */
export interface Wish {
  readonly application: Application;
  readonly to: Return;
  readonly responseType: 'code' | 'token';
  readonly scope: Scope;
  readonly prompt: 'none' | 'select_account';
  /** First six characters of the account UUID that is expected. */
  readonly hint?: string;
  readonly challenge?: string;
}

const RULES: readonly Rule[] = [
  nothingIsRepeated,
  scopeIsKnown,
  responseTypeIsKnown,
  challengeIsS256,
  promptIsKnown,
  hintIsWellFormed,
];

/** Judges an authorization request rule by rule; the first that finds something wrong answers (RFC 6749 §4.1.2.1). */
export function judge(request: Request, service: Service, status: 302 | 303): Wish | Reply {
  const parameters = readParameters(request.query, '', '');
  const application = clientIsKnown(parameters, service.world);
  if ('status' in application) return application;
  const redirectUri = redirectUriIsRegistered(parameters, application);
  if (typeof redirectUri !== 'string') return redirectUri;

  const rawState = parameters.isRepeated('state') ? undefined : rawParameter(request.query, 'state');
  const to: Return = { redirectUri, status, ...(rawState === undefined ? {} : { rawState }) };
  for (const rule of RULES) {
    const reply = rule({ parameters, application, to });
    if (reply !== undefined) return reply;
  }
  const responseType = readResponseType(parameters) ?? 'code';
  const hint = parameters.get('i');
  const challenge = parameters.get('code_challenge');
  return {
    application,
    to,
    responseType,
    scope: readScope(parameters) ?? 'read',
    prompt: responseType === 'token' ? 'select_account' : (readPrompt(parameters) ?? 'select_account'),
    ...(hint === undefined ? {} : { hint }),
    ...(challenge === undefined || responseType === 'token' ? {} : { challenge }),
  };
}
