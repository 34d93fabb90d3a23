import { type Reply, redirectReply } from '../http/reply.ts';
import { asciiQuery, type HttpRequest, readParameters } from '../http/request.ts';
import { type LoginFinder, loginOfAuthorization } from '../login-timeline.ts';
import { consentFormId, renderConsentPage } from '../panel/consent-page.ts';
import { renderError } from '../panel/panel-page.ts';
import {
  addCookie,
  endSession,
  findSession,
  isCrossOriginForm,
  type PanelSession,
  startSession,
} from '../panel/panel-session.ts';
import { renderSignIn } from '../panel/sign-in.ts';
import type { Authorization, Grant, OAuthScope, Person } from '../records.ts';
import type { LogFields } from '../request-log.ts';
import type { PublicHandler, Service } from '../service.ts';
import {
  type AuthorizationRequest,
  redirectWithError,
  redirectWithFragment,
  redirectWithQuery,
  validateAuthorization,
} from './rules.ts';

/** The authorization endpoint (RFC 6749 §3.1): validates the authorization request, then identifies the person in the browser. */
export const authorize: PublicHandler = (request, service) => {
  const authorizationRequest = validateAuthorization(request, service, 302);
  if ('status' in authorizationRequest) return authorizationRequest;
  const isSilent = authorizationRequest.prompt === 'none';
  const session = (isSilent ? undefined : scriptedSession(request, service)) ?? findSession(request, service);
  const context: AuthorizeContext = { authorizationRequest, session, request, service };
  const reply = isSilent ? respondWithoutPage(context) : respondToPerson(context);
  return session === undefined ? reply : addCookie(reply, session, service);
};

export function authorizationFields(request: HttpRequest): LogFields {
  const clientId = readParameters(request.query, '', '').get('client_id');
  return clientId === undefined ? {} : { client_id: clientId };
}

export const loginOfAuthorizePage: LoginFinder = (request, service) => {
  return loginOfAuthorization(request, request.query, service);
};

interface AuthorizeContext {
  readonly authorizationRequest: AuthorizationRequest;
  readonly session: PanelSession | undefined;
  readonly request: HttpRequest;
  readonly service: Service;
}

/** A request with prompt=none never shows a page (OpenID Connect Core §3.1.2.1 defines the same errors). */
function respondWithoutPage({ authorizationRequest, session, service }: AuthorizeContext): Reply {
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
  return redirectWithGrant(authorizationRequest, grantOf(authorization, authorizationRequest.scope), service.world);
}

function respondToPerson({ authorizationRequest, session, request, service }: AuthorizeContext): Reply {
  const script = service.world.consent;
  if (script.mode === 'deny') return redirectWithDenial(authorizationRequest);
  if (session === undefined)
    return renderSignIn(200, { next: returnPath(request), application: authorizationRequest.application.name });
  if (script.mode === 'approve')
    return approveAuthorization(authorizationRequest, session.person, script.team, service);
  return renderConsentPage(authorizationRequest, session, request, service);
}

/**
 * Creates a session of the person whom the consent script names, regardless of the cookie. The script takes the place of the
 * pages, and with prompt=none there are none.
 */
function scriptedSession(request: HttpRequest, service: Service): PanelSession | undefined {
  const script = service.world.consent;
  if (script.mode !== 'approve') return undefined;
  const session = findSession(request, service);
  return session?.person.uuid === script.person ? session : startSession(script.person, service);
}

function returnPath(request: HttpRequest): string {
  return `${request.path}?${asciiQuery(request.query)}`;
}

/**
 * Processes the submitted form of the consent page. The URL of the consent form contains the authorization request, which is
 * validated again.
 */
export function submitConsent(request: HttpRequest, service: Service): Reply {
  const authorizationRequest = validateAuthorization(request, service, 303);
  if ('status' in authorizationRequest) return authorizationRequest;
  const session = findSession(request, service);
  const fields = readForm(request);
  const restartPath = `${request.path}?${asciiQuery(request.query)}`;
  if (session === undefined || isCrossOriginForm(request)) return renderError(403, INVALID_FORM, [], restartPath);
  if (!service.world.sessions.consumeToken(session.session, consentFormId(request), fields.csrf))
    return renderError(403, INVALID_FORM, [], restartPath);

  if (fields.decision === 'deny') return redirectWithDenial(authorizationRequest);
  if (fields.decision === 'switch') return endSession(redirectReply(303, restartPath), session, service);
  const isOwnTeam = session.person.teams.includes(fields.account);
  if (fields.decision !== 'approve' || (fields.account !== PERSONAL && !isOwnTeam)) {
    return renderError(400, 'The form contains a value that it does not offer.', [], restartPath);
  }
  return approveAuthorization(authorizationRequest, session.person, isOwnTeam ? fields.account : undefined, service);
}

interface ConsentFields {
  readonly csrf: string;
  readonly decision: string;
  /** The account to approve: UUID of a team, or `personal`. */
  readonly account: string;
}

function readForm(request: HttpRequest): ConsentFields {
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
export function approveAuthorization(
  request: AuthorizationRequest,
  person: Person,
  team: string | undefined,
  { world }: Service,
): Reply {
  const authorization = world.grants.authorize({
    person: person.uuid,
    clientId: request.application.clientId,
    scope: request.scope,
    ...(team === undefined ? {} : { team }),
  });
  return redirectWithGrant(request, grantOf(authorization, request.scope), world);
}

/** Redirects with an authorization code or an access token for an existing approval. */
export function redirectWithGrant(request: AuthorizationRequest, grant: Grant, world: Service['world']): Reply {
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
export function redirectWithDenial(request: AuthorizationRequest): Reply {
  return redirectWithError(request.redirectTo, 'access_denied', 'The resource owner denied the request.');
}

export function grantOf(authorization: Authorization, scope: OAuthScope): Grant {
  const { id, person, clientId, team } = authorization;
  return { authorization: id, person, clientId, scope, ...(team === undefined ? {} : { team }) };
}
