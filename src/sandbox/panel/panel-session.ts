import { parse, serialize } from 'hono/utils/cookie';
import { type Reply, redirectReply } from '../http/reply.ts';
import { asciiQuery, type HttpRequest } from '../http/request.ts';
import type { BrowserSession, Person } from '../records.ts';
import type { Service } from '../service.ts';

/** The session of a browser in which a person is signed in. */
export interface PanelSession {
  readonly session: BrowserSession;
  readonly person: Person;
  /** Whether the session is new, so that the reply must set the session cookie. */
  readonly needsCookie: boolean;
}

/** Replies to a request of a person who is signed in to the control panel. */
export type PanelHandler = (request: HttpRequest, service: Service, session: PanelSession) => Reply;

export function findSession(request: HttpRequest, { world, settings }: Service): PanelSession | undefined {
  const cookies = parse(request.header('cookie').join('; '), settings.cookieName);
  const session = world.sessions.get(cookies[settings.cookieName] ?? '');
  const person = session === undefined ? undefined : world.registry.person(session.person);
  return session === undefined || person === undefined ? undefined : { session, person, needsCookie: false };
}

export function startSession(uuid: string, { world }: Service): PanelSession | undefined {
  const person = world.registry.person(uuid);
  return person === undefined ? undefined : { session: world.sessions.start(uuid), person, needsCookie: true };
}

/** Adds the session cookie to the first reply of a session. */
export function addCookie(reply: Reply, session: PanelSession, { settings }: Service): Reply {
  if (!session.needsCookie) return reply;
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(settings, session.session.id) } };
}

export function endSession(reply: Reply, session: PanelSession, { world, settings }: Service): Reply {
  world.sessions.end(session.session.id);
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(settings, '', 0) } };
}

/** Redirects to the sign-in page, which redirects back to the requested page after the sign-in. */
export function redirectToSignIn(request: HttpRequest): Reply {
  const isPage = request.method === 'GET' || request.method === 'HEAD';
  const next = isPage ? `${request.path}${request.query === '' ? '' : `?${asciiQuery(request.query)}`}` : '/panel';
  return redirectReply(303, `/panel/sign-in?${new URLSearchParams({ next })}`);
}

/** Whether the Origin header shows that another site submitted the form. */
export function isCrossOriginForm(request: HttpRequest): boolean {
  const own = `${request.scheme}://${request.authority}`;
  return request.header('origin').some((origin) => origin.toLowerCase() !== own.toLowerCase());
}

/**
 * Whether the form was submitted from its own page, with an unused CSRF token of that form. Checking the CSRF token also
 * invalidates it.
 */
export function consumeFormToken(
  request: HttpRequest,
  session: PanelSession,
  { world }: Pick<Service, 'world'>,
  formId: string,
): boolean {
  const token = new URLSearchParams(request.body).get('csrf') ?? '';
  return !isCrossOriginForm(request) && world.sessions.consumeToken(session.session, formId, token);
}

/** The cookie has SameSite=Lax, because applications link to the authorization endpoint. It is Secure only with HTTPS. */
function cookie({ cookieName, isHttps }: Service['settings'], value: string, maxAge?: number): string {
  return serialize(cookieName, value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    ...(isHttps ? { secure: true } : {}),
    ...(maxAge === undefined ? {} : { maxAge }),
  });
}
