import type { SandboxHandlerContext } from '../handler-context.ts';
import { toAsciiUrlQuery } from '../http/ascii-query.ts';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import { redirectReply } from '../http/http-reply.ts';
import type { SandboxHttpRequest } from '../http/http-request.ts';
import { buildConsentCsrfTokenPurpose } from '../panel/consent-page.ts';
import { renderErrorPage } from '../panel/error-page.ts';
import { endPanelSession, findPanelSession, isCrossOriginForm } from '../panel/panel-session.ts';
import { validateAuthorizationRequest } from './authorization-request.ts';
import { approveAuthorizationRequest, redirectWithAuthorizationDenial } from './authorization-response.ts';

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
  if (!service.world.consumeCsrfToken(session.session, buildConsentCsrfTokenPurpose(request), fields.csrf))
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
