import { toAsciiQuery } from '../http/ascii-query.ts';
import type { HttpReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { readParameters } from '../http/request-parameters.ts';
import { traceAuthorizationRequest } from '../login-trace.ts';
import { renderConsentPage } from '../panel/consent-page.ts';
import { addSessionCookie, findPanelSession, type PanelSession, startPanelSession } from '../panel/panel-session.ts';
import { renderSignInPage } from '../panel/sign-in.ts';
import type { LogFields, LoginTrace } from '../request-log.ts';
import type { SandboxService } from '../service.ts';
import { redirectWithError } from './authorization-redirects.ts';
import { type SandboxAuthorizationRequest, validateAuthorizationRequest } from './authorization-request.ts';
import { approveRequest, denyRequest, grantUnder, respondWithGrant } from './authorization-response.ts';

/** The authorization endpoint (RFC 6749 §3.1): the request is judged first, then the person at the browser is. */
export function handleAuthorize(request: HttpRequest, service: SandboxService): HttpReply {
  const wish = validateAuthorizationRequest(request, service, 302);
  if ('status' in wish) return wish;
  const visit = scriptedSession(request, service) ?? findPanelSession(request, service);
  const situation: AuthorizeContext = { wish, visit, request, service };
  const reply = wish.prompt === 'none' ? respondWithoutPage(situation) : respondToPerson(situation);
  return visit === undefined ? reply : addSessionCookie(reply, visit, service);
}

export function authorizeLogFields(request: HttpRequest): LogFields {
  const clientId = readParameters(request.query, '', '').get('client_id');
  return clientId === undefined ? {} : { client_id: clientId.slice(0, 100) };
}

export function traceAuthorize(request: HttpRequest, service: SandboxService): LoginTrace | undefined {
  return traceAuthorizationRequest(request, request.query, service);
}

interface AuthorizeContext {
  readonly wish: SandboxAuthorizationRequest;
  readonly visit: PanelSession | undefined;
  readonly request: HttpRequest;
  readonly service: SandboxService;
}

/** prompt=none never shows a page (OpenID Connect Core §3.1.2.1 has the same errors). */
function respondWithoutPage({ wish, visit, service }: AuthorizeContext): HttpReply {
  if (visit === undefined) return redirectWithError(wish.redirectTo, 'login_required', 'The user is not signed in.');
  const { person } = visit;
  if (wish.hint !== undefined && wish.hint.toLowerCase() !== person.uuid.slice(0, 6)) {
    return redirectWithError(wish.redirectTo, 'login_required', 'The user who is signed in is not the one expected.');
  }
  const authorization = service.world.authorization(person.uuid, wish.application.clientId);
  const covers = authorization?.scope === 'read write' || wish.scope === 'read';
  if (authorization === undefined || !covers) {
    return redirectWithError(
      wish.redirectTo,
      'consent_required',
      'The user has not authorized the application for this scope.',
    );
  }
  return respondWithGrant(wish, grantUnder(authorization, wish.scope), service.world);
}

function respondToPerson({ wish, visit, request, service }: AuthorizeContext): HttpReply {
  const script = service.world.consent;
  if (script.mode === 'deny') return denyRequest(wish);
  if (visit === undefined)
    return renderSignInPage(200, { next: returnPath(request), application: wish.application.name });
  if (script.mode === 'approve') return approveRequest(wish, visit.person, script.team, service);
  return renderConsentPage(wish, visit, request, service);
}

/** The consent script signs its person in, whoever the browser belongs to. */
function scriptedSession(request: HttpRequest, service: SandboxService): PanelSession | undefined {
  const script = service.world.consent;
  if (script.mode !== 'approve') return undefined;
  const visit = findPanelSession(request, service);
  return visit?.person.uuid === script.person ? visit : startPanelSession(script.person, service);
}

function returnPath(request: HttpRequest): string {
  return `${request.path}?${toAsciiQuery(request.query)}`;
}
