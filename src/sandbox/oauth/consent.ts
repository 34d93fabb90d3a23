import { asciiQuery } from '../http/ascii.ts';
import type { Reply } from '../http/reply.ts';
import { redirect } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { consentForm } from '../panel/consent-page.ts';
import { errorPage } from '../panel/error-page.ts';
import { endVisit, isForeignForm, visitOf } from '../panel/session.ts';
import type { Service } from '../service.ts';
import { approve, deny } from './approval.ts';
import { judge } from './wish.ts';

/** The answer of the consent page. Its address carries the authorization request, which is judged again as if it were new. */
export function consent(request: Request, service: Service): Reply {
  const wish = judge(request, service, 303);
  if ('status' in wish) return wish;
  const visit = visitOf(request, service);
  const answers = readForm(request);
  const again = `${request.path}?${asciiQuery(request.query)}`;
  if (visit === undefined || isForeignForm(request)) return errorPage(403, STALE, [], again);
  if (!service.world.closeForm(visit.session, consentForm(request), answers.csrf))
    return errorPage(403, STALE, [], again);

  if (answers.decision === 'deny') return deny(wish);
  if (answers.decision === 'switch') return endVisit(redirect(303, again), visit, service);
  const isOwnTeam = visit.person.teams.includes(answers.account);
  if (answers.decision !== 'approve' || (answers.account !== PERSONAL && !isOwnTeam)) {
    return errorPage(400, 'The form was not filled in as it was shown.', [], again);
  }
  return approve(wish, visit.person, isOwnTeam ? answers.account : undefined, service);
}

interface Answers {
  readonly csrf: string;
  readonly decision: string;
  /** UUID of a team, or `personal`. */
  readonly account: string;
}

function readForm(request: Request): Answers {
  const form = new URLSearchParams(request.body);
  return {
    csrf: form.get('csrf') ?? '',
    decision: form.get('decision') ?? '',
    account: form.get('account') ?? PERSONAL,
  };
}

const PERSONAL = 'personal';
const STALE = 'This form was already used, or you are no longer signed in.';
