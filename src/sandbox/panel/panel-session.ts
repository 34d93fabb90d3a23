import { parse, serialize } from 'hono/utils/cookie';
import { toAsciiQuery } from '../http/ascii-query.ts';
import { type HttpReply, redirectReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { BrowserSession, Person } from '../records.ts';
import type { SandboxService } from '../service.ts';

/** A browser whose session cookie is known. */
export interface PanelSession {
  readonly session: BrowserSession;
  readonly person: Person;
  /** Set while the browser has not been told its cookie yet. */
  readonly needsCookie: boolean;
}

export function findPanelSession(request: HttpRequest, { world, settings }: SandboxService): PanelSession | undefined {
  const cookies = parse(request.header('cookie').join('; '), settings.cookieName);
  const session = world.session(cookies[settings.cookieName] ?? '');
  const person = session === undefined ? undefined : world.registry.person(session.person);
  return session === undefined || person === undefined ? undefined : { session, person, needsCookie: false };
}

export function startPanelSession(uuid: string, { world }: SandboxService): PanelSession | undefined {
  const person = world.registry.person(uuid);
  return person === undefined ? undefined : { session: world.signIn(uuid), person, needsCookie: true };
}

/** Sends the cookie along with the first reply of a visit. */
export function addSessionCookie(reply: HttpReply, visit: PanelSession, { settings }: SandboxService): HttpReply {
  if (!visit.needsCookie) return reply;
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(settings.cookieName, visit.session.id) } };
}

export function endPanelSession(reply: HttpReply, visit: PanelSession, { world, settings }: SandboxService): HttpReply {
  world.signOut(visit.session.id);
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(settings.cookieName, '', 0) } };
}

/** Pages of the panel lead through the sign-in page and back. */
export function redirectToSignIn(request: HttpRequest): HttpReply {
  const isPage = request.method === 'GET' || request.method === 'HEAD';
  const next = isPage ? `${request.path}${request.query === '' ? '' : `?${toAsciiQuery(request.query)}`}` : '/panel';
  return redirectReply(303, `/panel/sign-in?${new URLSearchParams({ next })}`);
}

/** Whether a browser says that the form was shown by another site. */
export function isCrossOriginForm(request: HttpRequest): boolean {
  const own = `http://${request.authority}`;
  return request.header('origin').some((origin) => origin.toLowerCase() !== own.toLowerCase());
}

/** SameSite=Lax, because the browser comes from the application's site; no Secure, because loopback is plain http. */
function cookie(name: string, value: string, maxAge?: number): string {
  return serialize(name, value, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    ...(maxAge === undefined ? {} : { maxAge }),
  });
}
