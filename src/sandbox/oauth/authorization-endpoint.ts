import type { SandboxHandlerContext, SandboxRequestHandler } from '../handler-context.ts';
import { toAsciiUrlQuery } from '../http/ascii-query.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { readRequestParameters } from '../http/request-parameters.ts';
import { findLoginCorrelationOfAuthorizationRequest, type LoginCorrelationFinder } from '../login-trace.ts';
import { renderConsentPage } from '../panel/consent-page.ts';
import { addSessionCookie, findPanelSession, type PanelSession, startPanelSession } from '../panel/panel-session.ts';
import { renderSignInPage } from '../panel/sign-in.ts';
import type { RequestLogFields } from '../request-log.ts';
import { redirectWithError } from './authorization-redirects.ts';
import { type SandboxAuthorizationRequest, validateAuthorizationRequest } from './authorization-request.ts';
import {
  approveAuthorizationRequest,
  buildSandboxGrantOfAuthorization,
  redirectWithAuthorizationDenial,
  redirectWithAuthorizationGrant,
} from './authorization-response.ts';

/** The authorization endpoint (RFC 6749 §3.1): validates the authorization request, then identifies the person in the browser. */
export const handleAuthorizationRequest: SandboxRequestHandler = (request, service) => {
  const authorizationRequest = validateAuthorizationRequest(request, service, 302);
  if ('status' in authorizationRequest) return authorizationRequest;
  const session = scriptedSession(request, service) ?? findPanelSession(request, service);
  const context: AuthorizeContext = { authorizationRequest, session, request, service };
  const reply = authorizationRequest.prompt === 'none' ? respondWithoutPage(context) : respondToPerson(context);
  return session === undefined ? reply : addSessionCookie(reply, session, service);
};

export function getLogFieldsOfAuthorizationRequest(request: SandboxHttpRequest): RequestLogFields {
  const clientId = readRequestParameters(request.query, '', '').get('client_id');
  return clientId === undefined ? {} : { client_id: clientId };
}

export const findLoginCorrelationOfAuthorizeEndpoint: LoginCorrelationFinder = (request, service) => {
  return findLoginCorrelationOfAuthorizationRequest(request, request.query, service);
};

interface AuthorizeContext {
  readonly authorizationRequest: SandboxAuthorizationRequest;
  readonly session: PanelSession | undefined;
  readonly request: SandboxHttpRequest;
  readonly service: SandboxHandlerContext;
}

/** A request with prompt=none never shows a page (OpenID Connect Core §3.1.2.1 defines the same errors). */
function respondWithoutPage({ authorizationRequest, session, service }: AuthorizeContext): SandboxHttpReply {
  if (session === undefined)
    return redirectWithError(authorizationRequest.redirectTo, 'login_required', 'The user is not signed in.');
  const { person } = session;
  if (authorizationRequest.hint !== undefined && authorizationRequest.hint.toLowerCase() !== person.uuid.slice(0, 6)) {
    return redirectWithError(
      authorizationRequest.redirectTo,
      'login_required',
      'The signed-in user is not the expected one.',
    );
  }
  const authorization = service.world.latestAuthorization(person.uuid, authorizationRequest.application.clientId);
  const isCovered = authorization?.scope === 'read write' || authorizationRequest.scope === 'read';
  if (authorization === undefined || !isCovered) {
    return redirectWithError(
      authorizationRequest.redirectTo,
      'consent_required',
      'The user has not authorized the application for this scope.',
    );
  }
  return redirectWithAuthorizationGrant(
    authorizationRequest,
    buildSandboxGrantOfAuthorization(authorization, authorizationRequest.scope),
    service.world,
  );
}

function respondToPerson({ authorizationRequest, session, request, service }: AuthorizeContext): SandboxHttpReply {
  const script = service.world.consent;
  if (script.mode === 'deny') return redirectWithAuthorizationDenial(authorizationRequest);
  if (session === undefined)
    return renderSignInPage(200, { next: returnPath(request), application: authorizationRequest.application.name });
  if (script.mode === 'approve')
    return approveAuthorizationRequest(authorizationRequest, session.person, script.team, service);
  return renderConsentPage(authorizationRequest, session, request, service);
}

/** Creates a session of the person whom the consent script names, regardless of the cookie. */
function scriptedSession(request: SandboxHttpRequest, service: SandboxHandlerContext): PanelSession | undefined {
  const script = service.world.consent;
  if (script.mode !== 'approve') return undefined;
  const session = findPanelSession(request, service);
  return session?.person.uuid === script.person ? session : startPanelSession(script.person, service);
}

function returnPath(request: SandboxHttpRequest): string {
  return `${request.path}?${toAsciiUrlQuery(request.query)}`;
}
