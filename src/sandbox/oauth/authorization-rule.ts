import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { RequestParameters } from '../http/request-parameters.ts';
import type { RegisteredApplication } from '../records.ts';
import type { RedirectTarget } from './authorization-redirects.ts';

/** A request whose client and redirect URI are valid, so that errors may be sent to the redirect URI. */
export interface AuthorizationRequestRuleInput {
  readonly parameters: RequestParameters;
  readonly application: RegisteredApplication;
  readonly redirectTo: RedirectTarget;
}

/**
 * Checks one property of an authorization request. If the rule returns a reply, the request is rejected with it; undefined
 * continues with the next rule.
 */
export type AuthorizationRequestRule = (input: AuthorizationRequestRuleInput) => SandboxHttpReply | undefined;
