import { parse, serialize } from 'hono/utils/cookie';
import { asciiQuery } from '../http/ascii.ts';
import { type Reply, redirect } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Person, Session } from '../records.ts';
import type { Service } from '../service.ts';

/** A browser whose session cookie is known. */
export interface Visit {
  readonly session: Session;
  readonly person: Person;
  /** Set while the browser has not been told its cookie yet. */
  readonly isFresh: boolean;
}

export function visitOf(request: Request, { world, settings }: Service): Visit | undefined {
  const cookies = parse(request.header('cookie').join('; '), settings.cookieName);
  const session = world.session(cookies[settings.cookieName] ?? '');
  const person = session === undefined ? undefined : world.directory.person(session.person);
  return session === undefined || person === undefined ? undefined : { session, person, isFresh: false };
}

export function startVisit(uuid: string, { world }: Service): Visit | undefined {
  const person = world.directory.person(uuid);
  return person === undefined ? undefined : { session: world.signIn(uuid), person, isFresh: true };
}

/** Sends the cookie along with the first reply of a visit. */
export function withVisit(reply: Reply, visit: Visit, { settings }: Service): Reply {
  if (!visit.isFresh) return reply;
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(settings.cookieName, visit.session.id) } };
}

export function endVisit(reply: Reply, visit: Visit, { world, settings }: Service): Reply {
  world.signOut(visit.session.id);
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(settings.cookieName, '', 0) } };
}

/** Pages of the panel lead through the sign-in page and back. */
export function signInFirst(request: Request): Reply {
  const isPage = request.method === 'GET' || request.method === 'HEAD';
  const next = isPage ? `${request.path}${request.query === '' ? '' : `?${asciiQuery(request.query)}`}` : '/panel';
  return redirect(303, `/panel/sign-in?${new URLSearchParams({ next })}`);
}

/** Whether a browser says that the form was shown by another site. */
export function isForeignForm(request: Request): boolean {
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
