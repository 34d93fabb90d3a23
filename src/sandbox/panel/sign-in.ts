import { html } from 'hono/html';
import { equalSecrets } from '../equal.ts';
import { asciiQuery } from '../http/ascii.ts';
import { type Reply, redirect } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Trace } from '../log.ts';
import type { Service } from '../service.ts';
import { traceOfWish } from '../trace.ts';
import { errorPage } from './error-page.ts';
import { panelPage } from './page.ts';
import { endVisit, isForeignForm, startVisit, type Visit, withVisit } from './session.ts';

export interface SignInOptions {
  /** Where to go afterwards; a path of this origin. */
  readonly next: string;
  /** The application that asks for access. */
  readonly application?: string;
  /** What was entered before and did not fit. */
  readonly rejectedEmail?: string;
}

export function showSignIn(request: Request, service: Service): Reply {
  const next = localPath(new URLSearchParams(request.query).get('next'));
  return signInPage(200, { next, ...applicationOf(next, service) });
}

export function signIn(request: Request, service: Service): Reply {
  if (isForeignForm(request)) return errorPage(403, 'The form was shown by another site.');
  const form = new URLSearchParams(request.body);
  const next = localPath(form.get('next'));
  const email = form.get('email') ?? '';
  const person = service.world.directory.personByEmail(email);
  // An unknown person costs the same comparison as a known one.
  const isRight = equalSecrets(form.get('password') ?? '', person?.password ?? '') && person !== undefined;
  const visit = isRight ? startVisit(person.uuid, service) : undefined;
  if (visit === undefined) return signInPage(403, { next, rejectedEmail: email, ...applicationOf(next, service) });
  return withVisit(redirect(303, next), visit, service);
}

/** The sign-in page of an authorization request keeps it as the address to go back to. */
export function signInTrace(request: Request, service: Service): Trace | undefined {
  const query = wishOf(localPath(new URLSearchParams(request.body).get('next')));
  return query === undefined ? undefined : traceOfWish(request, query, service);
}

export function signOut(request: Request, service: Service, visit: Visit): Reply {
  if (isForeignForm(request)) return errorPage(403, 'The form was shown by another site.');
  return endVisit(redirect(303, '/panel/sign-in'), visit, service);
}

export function signInPage(status: number, { next, application, rejectedEmail }: SignInOptions): Reply {
  const wasRejected = rejectedEmail !== undefined;
  const content = html`<h1>Sign in</h1>
${application === undefined ? '' : html`<p><strong>${application}</strong> asks for access to your account. Sign in to see what it asks for.</p>`}
${wasRejected ? html`<p class="alert" role="alert" id="problem">The e-mail address or the password is not right.</p>` : ''}
<form method="post" action="/panel/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required autofocus value="${rejectedEmail ?? ''}"${wasRejected ? html` aria-describedby="problem"` : ''}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<div class="actions"><button class="main" type="submit">Sign in</button></div>
</form>
<p class="soft">The people of this sandbox and their passwords were printed when it started.</p>`;
  return panelPage(status, { title: 'Sign in', content, leavesOrigin: true });
}

/** The application whose authorization request waits behind the sign-in. */
function applicationOf(next: string, { world }: Service): Pick<SignInOptions, 'application'> {
  const clientId = new URLSearchParams(wishOf(next)).get('client_id');
  const application = world.directory.application(clientId ?? '')?.name;
  return application === undefined ? {} : { application };
}

/** The query of an authorization request; undefined for any other address. */
function wishOf(next: string): string | undefined {
  return next.startsWith(AUTHORIZE) ? next.slice(AUTHORIZE.length) : undefined;
}

const AUTHORIZE = '/v1/oauth/authorize?';

/** Only a path of this origin: `//host` and a backslash lead elsewhere. */
function localPath(next: string | null): string {
  if (next === null || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next) || next.includes('\\')) return '/panel';
  return asciiQuery(next);
}
