import { parse, serialize } from 'hono/utils/cookie';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { redirectReply, type SandboxHttpReply } from '../http/reply.ts';
import { type SandboxHttpRequest, toAsciiUrlQuery } from '../http/request.ts';

import type { SandboxBrowserSession, SandboxPerson } from '../records.ts';

/** The session of a browser in which a person is signed in. */
export interface PanelSession {
  readonly session: SandboxBrowserSession;
  readonly person: SandboxPerson;
  /** Whether the session is new, so that the reply must set the session cookie. */
  readonly needsCookie: boolean;
}

/** Replies to a request of a person who is signed in to the control panel. */
export type PanelRequestHandler = (
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
  session: PanelSession,
) => SandboxHttpReply;

export function findPanelSession(
  request: SandboxHttpRequest,
  { world, settings }: SandboxHandlerContext,
): PanelSession | undefined {
  const cookies = parse(request.header('cookie').join('; '), settings.cookieName);
  const session = world.sessions.get(cookies[settings.cookieName] ?? '');
  const person = session === undefined ? undefined : world.registry.person(session.person);
  return session === undefined || person === undefined ? undefined : { session, person, needsCookie: false };
}

export function startPanelSession(uuid: string, { world }: SandboxHandlerContext): PanelSession | undefined {
  const person = world.registry.person(uuid);
  return person === undefined ? undefined : { session: world.sessions.start(uuid), person, needsCookie: true };
}

/** Adds the session cookie to the first reply of a session. */
export function addSessionCookie(
  reply: SandboxHttpReply,
  session: PanelSession,
  { settings }: SandboxHandlerContext,
): SandboxHttpReply {
  if (!session.needsCookie) return reply;
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(settings, session.session.id) } };
}

export function endPanelSession(
  reply: SandboxHttpReply,
  session: PanelSession,
  { world, settings }: SandboxHandlerContext,
): SandboxHttpReply {
  world.sessions.end(session.session.id);
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(settings, '', 0) } };
}

/** Redirects to the sign-in page, which redirects back to the requested page after the sign-in. */
export function redirectToSignIn(request: SandboxHttpRequest): SandboxHttpReply {
  const isPage = request.method === 'GET' || request.method === 'HEAD';
  const next = isPage ? `${request.path}${request.query === '' ? '' : `?${toAsciiUrlQuery(request.query)}`}` : '/panel';
  return redirectReply(303, `/panel/sign-in?${new URLSearchParams({ next })}`);
}

/** Whether the Origin header shows that another site submitted the form. */
export function isCrossOriginForm(request: SandboxHttpRequest): boolean {
  const own = `${request.scheme}://${request.authority}`;
  return request.header('origin').some((origin) => origin.toLowerCase() !== own.toLowerCase());
}

/**
 * Whether the form was submitted from its own page, with an unused CSRF token of that form. Checking the CSRF token also
 * invalidates it.
 */
export function consumeFormCsrfToken(
  request: SandboxHttpRequest,
  session: PanelSession,
  { world }: Pick<SandboxHandlerContext, 'world'>,
  formId: string,
): boolean {
  const token = new URLSearchParams(request.body).get('csrf') ?? '';
  return !isCrossOriginForm(request) && world.sessions.consumeToken(session.session, formId, token);
}

/** The cookie has SameSite=Lax, because applications link to the authorization endpoint. It is Secure only with HTTPS. */
function cookie({ cookieName, isHttps }: SandboxHandlerContext['settings'], value: string, maxAge?: number): string {
  return serialize(cookieName, value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    ...(isHttps ? { secure: true } : {}),
    ...(maxAge === undefined ? {} : { maxAge }),
  });
}
