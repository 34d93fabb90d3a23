import { asciiQuery } from '../http/ascii.ts';
import { readParameters } from '../http/parameters.ts';
import type { Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Subject, Trace } from '../log.ts';
import { consentPage } from '../panel/consent-page.ts';
import { startVisit, type Visit, visitOf, withVisit } from '../panel/session.ts';
import { signInPage } from '../panel/sign-in.ts';
import type { Service } from '../service.ts';
import { traceOfWish } from '../trace.ts';
import { approve, deliver, deny, mandateOf } from './approval.ts';
import { redirectWithError } from './redirects.ts';
import { judge, type Wish } from './wish.ts';

/** The authorization endpoint (RFC 6749 §3.1): the request is judged first, then the person at the browser is. */
export function authorize(request: Request, service: Service): Reply {
  const wish = judge(request, service, 302);
  if ('status' in wish) return wish;
  const visit = scriptedVisit(request, service) ?? visitOf(request, service);
  const situation: Situation = { wish, visit, request, service };
  const reply = wish.prompt === 'none' ? answerSilently(situation) : answerPerson(situation);
  return visit === undefined ? reply : withVisit(reply, visit, service);
}

export function authorizeSubject(request: Request): Subject {
  const clientId = readParameters(request.query, '', '').get('client_id');
  return clientId === undefined ? {} : { client_id: clientId.slice(0, 100) };
}

export function authorizeTrace(request: Request, service: Service): Trace | undefined {
  return traceOfWish(request, request.query, service);
}

interface Situation {
  readonly wish: Wish;
  readonly visit: Visit | undefined;
  readonly request: Request;
  readonly service: Service;
}

/** prompt=none never shows a page (OpenID Connect Core §3.1.2.1 has the same errors). */
function answerSilently({ wish, visit, service }: Situation): Reply {
  if (visit === undefined) return redirectWithError(wish.to, 'login_required', 'The user is not signed in.');
  const { person } = visit;
  if (wish.hint !== undefined && wish.hint.toLowerCase() !== person.uuid.slice(0, 6)) {
    return redirectWithError(wish.to, 'login_required', 'The user who is signed in is not the one expected.');
  }
  const authorization = service.world.authorization(person.uuid, wish.application.clientId);
  const covers = authorization?.scope === 'read write' || wish.scope === 'read';
  if (authorization === undefined || !covers) {
    return redirectWithError(
      wish.to,
      'consent_required',
      'The user has not authorized the application for this scope.',
    );
  }
  return deliver(wish, mandateOf(authorization, wish.scope), service.world);
}

function answerPerson({ wish, visit, request, service }: Situation): Reply {
  const script = service.world.consent;
  if (script.mode === 'deny') return deny(wish);
  if (visit === undefined) return signInPage(200, { next: nextOf(request), application: wish.application.name });
  if (script.mode === 'approve') return approve(wish, visit.person, script.team, service);
  return consentPage(wish, visit, request, service);
}

/** The consent script signs its person in, whoever the browser belongs to. */
function scriptedVisit(request: Request, service: Service): Visit | undefined {
  const script = service.world.consent;
  if (script.mode !== 'approve') return undefined;
  const visit = visitOf(request, service);
  return visit?.person.uuid === script.person ? visit : startVisit(script.person, service);
}

function nextOf(request: Request): string {
  return `${request.path}?${asciiQuery(request.query)}`;
}
