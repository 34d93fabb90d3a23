import { toAsciiQuery } from '../http/ascii-query.ts';
import type { HttpReply } from '../http/http-reply.ts';
import { redirectReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { consentFormId } from '../panel/consent-page.ts';
import { renderErrorPage } from '../panel/error-page.ts';
import { endPanelSession, findPanelSession, isCrossOriginForm } from '../panel/panel-session.ts';
import type { SandboxService } from '../service.ts';
import { validateAuthorizationRequest } from './authorization-request.ts';
import { approveRequest, denyRequest } from './authorization-response.ts';

/** The answer of the consent page. Its address carries the authorization request, which is judged again as if it were new. */
export function submitConsent(request: HttpRequest, service: SandboxService): HttpReply {
  const wish = validateAuthorizationRequest(request, service, 303);
  if ('status' in wish) return wish;
  const visit = findPanelSession(request, service);
  const answers = readForm(request);
  const again = `${request.path}?${toAsciiQuery(request.query)}`;
  if (visit === undefined || isCrossOriginForm(request)) return renderErrorPage(403, STALE, [], again);
  if (!service.world.consumeCsrfToken(visit.session, consentFormId(request), answers.csrf))
    return renderErrorPage(403, STALE, [], again);

  if (answers.decision === 'deny') return denyRequest(wish);
  if (answers.decision === 'switch') return endPanelSession(redirectReply(303, again), visit, service);
  const isOwnTeam = visit.person.teams.includes(answers.account);
  if (answers.decision !== 'approve' || (answers.account !== PERSONAL && !isOwnTeam)) {
    return renderErrorPage(400, 'The form was not filled in as it was shown.', [], again);
  }
  return approveRequest(wish, visit.person, isOwnTeam ? answers.account : undefined, service);
}

interface ConsentFields {
  readonly csrf: string;
  readonly decision: string;
  /** UUID of a team, or `personal`. */
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
const STALE = 'This form was already used, or you are no longer signed in.';
