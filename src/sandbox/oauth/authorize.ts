import type { SandboxHandlerContext, SandboxRequestHandler } from '../handler-context.ts';
import { redirectReply, type SandboxHttpReply } from '../http/reply.ts';
import { readRequestParameters, type SandboxHttpRequest, toAsciiUrlQuery } from '../http/request.ts';
import { findLoginCorrelationOfAuthorizationRequest, type LoginCorrelationFinder } from '../login-timeline.ts';
import { buildConsentCsrfTokenPurpose, renderConsentPage } from '../panel/consent-page.ts';
import { renderErrorPage } from '../panel/panel-page.ts';
import {
  addSessionCookie,
  endPanelSession,
  findPanelSession,
  isCrossOriginForm,
  type PanelSession,
  startPanelSession,
} from '../panel/panel-session.ts';
import { renderSignInPage } from '../panel/sign-in.ts';
import type { ApplicationAuthorization, SandboxGrant, SandboxOAuthScope, SandboxPerson } from '../records.ts';
import type { RequestLogFields } from '../request-log.ts';
import {
  redirectWithError,
  redirectWithFragment,
  redirectWithQuery,
  type SandboxAuthorizationRequest,
  validateAuthorizationRequest,
} from './rules.ts';

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
  const authorization = service.world.grants.latestAuthorization(
    person.uuid,
    authorizationRequest.application.clientId,
  );
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

/**
 * Processes the submitted form of the consent page. The URL of the consent form contains the authorization request, which is
 * validated again.
 */
export function handleConsentForm(request: SandboxHttpRequest, service: SandboxHandlerContext): SandboxHttpReply {
  const authorizationRequest = validateAuthorizationRequest(request, service, 303);
  if ('status' in authorizationRequest) return authorizationRequest;
  const session = findPanelSession(request, service);
  const fields = readForm(request);
  const restartPath = `${request.path}?${toAsciiUrlQuery(request.query)}`;
  if (session === undefined || isCrossOriginForm(request)) return renderErrorPage(403, INVALID_FORM, [], restartPath);
  if (!service.world.sessions.consumeToken(session.session, buildConsentCsrfTokenPurpose(request), fields.csrf))
    return renderErrorPage(403, INVALID_FORM, [], restartPath);

  if (fields.decision === 'deny') return redirectWithAuthorizationDenial(authorizationRequest);
  if (fields.decision === 'switch') return endPanelSession(redirectReply(303, restartPath), session, service);
  const isOwnTeam = session.person.teams.includes(fields.account);
  if (fields.decision !== 'approve' || (fields.account !== PERSONAL && !isOwnTeam)) {
    return renderErrorPage(400, 'The form contains a value that it does not offer.', [], restartPath);
  }
  return approveAuthorizationRequest(
    authorizationRequest,
    session.person,
    isOwnTeam ? fields.account : undefined,
    service,
  );
}

interface ConsentFields {
  readonly csrf: string;
  readonly decision: string;
  /** The account to approve: UUID of a team, or `personal`. */
  readonly account: string;
}

function readForm(request: SandboxHttpRequest): ConsentFields {
  const form = new URLSearchParams(request.body);
  return {
    csrf: form.get('csrf') ?? '',
    decision: form.get('decision') ?? '',
    account: form.get('account') ?? PERSONAL,
  };
}

const PERSONAL = 'personal';
const INVALID_FORM = 'This form was already used, or you are signed out.';

/** Stores the approval and redirects with an authorization code or an access token. */
export function approveAuthorizationRequest(
  request: SandboxAuthorizationRequest,
  person: SandboxPerson,
  team: string | undefined,
  { world }: SandboxHandlerContext,
): SandboxHttpReply {
  const authorization = world.grants.authorize({
    person: person.uuid,
    clientId: request.application.clientId,
    scope: request.scope,
    ...(team === undefined ? {} : { team }),
  });
  return redirectWithAuthorizationGrant(request, buildSandboxGrantOfAuthorization(authorization, request.scope), world);
}

/** Redirects with an authorization code or an access token for an existing approval. */
export function redirectWithAuthorizationGrant(
  request: SandboxAuthorizationRequest,
  grant: SandboxGrant,
  world: SandboxHandlerContext['world'],
): SandboxHttpReply {
  if (request.responseType === 'code') {
    const { code } = world.grants.issueCode(grant, request.redirectTo.redirectUri, request.challenge);
    return redirectWithQuery(request.redirectTo, { code });
  }
  const pair = world.grants.issuePair(grant, 'implicit');
  return redirectWithFragment(request.redirectTo, {
    access_token: pair.accessToken,
    token_type: 'bearer',
    expires_in: String((pair.expiresAt - pair.issuedAt) / 1000),
  });
}

/** In both flows, the error is in the query of the redirect URI (docs/service.md S4.13). */
export function redirectWithAuthorizationDenial(request: SandboxAuthorizationRequest): SandboxHttpReply {
  return redirectWithError(request.redirectTo, 'access_denied', 'The resource owner denied the request.');
}

export function buildSandboxGrantOfAuthorization(
  authorization: ApplicationAuthorization,
  scope: SandboxOAuthScope,
): SandboxGrant {
  const { id, person, clientId, team } = authorization;
  return { authorization: id, person, clientId, scope, ...(team === undefined ? {} : { team }) };
}
