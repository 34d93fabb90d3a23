import { html } from 'hono/html';
import { type Reply, redirectReply } from '../http/reply.ts';
import { asciiQuery, type HttpRequest } from '../http/request.ts';
import { type LoginFinder, loginOfAuthorization } from '../login-timeline.ts';
import { equalSecrets } from '../random.ts';
import type { Service } from '../service.ts';
import { renderError, renderPage } from './panel-page.ts';
import { addCookie, endSession, isCrossOriginForm, type PanelHandler, startSession } from './panel-session.ts';

export interface SignInPageOptions {
  /** The path of this origin that the browser opens after the sign-in. */
  readonly next: string;
  /** The application that requests access to the account. */
  readonly application?: string;
  /** The e-mail address of a failed sign-in. */
  readonly rejectedEmail?: string;
}

export function signInPage(request: HttpRequest, service: Service): Reply {
  const next = localPath(new URLSearchParams(request.query).get('next'));
  return renderSignIn(200, { next, ...applicationOf(next, service) });
}

export function submitSignIn(request: HttpRequest, service: Service): Reply {
  if (isCrossOriginForm(request)) return renderError(403, 'The form was submitted from another site.');
  const form = new URLSearchParams(request.body);
  const next = localPath(form.get('next'));
  const email = form.get('email') ?? '';
  const person = service.world.registry.personByEmail(email);
  // The password is also compared for an unknown person, so that the response time does not reveal who is registered.
  const isPasswordRight = equalSecrets(form.get('password') ?? '', person?.password ?? '') && person !== undefined;
  const session = isPasswordRight ? startSession(person.uuid, service) : undefined;
  if (session === undefined) return renderSignIn(403, { next, rejectedEmail: email, ...applicationOf(next, service) });
  return addCookie(redirectReply(303, next), session, service);
}

/** When the sign-in belongs to an authorization request, `next` contains that request. */
export const loginOfSignIn: LoginFinder = (request, service) => {
  const query = authorizationQuery(localPath(new URLSearchParams(request.body).get('next')));
  return query === undefined ? undefined : loginOfAuthorization(request, query, service);
};

export const submitSignOut: PanelHandler = (request, service, session) => {
  if (isCrossOriginForm(request)) return renderError(403, 'The form was submitted from another site.');
  return endSession(redirectReply(303, '/panel/sign-in'), session, service);
};

export function renderSignIn(status: number, { next, application, rejectedEmail }: SignInPageOptions): Reply {
  const wasRejected = rejectedEmail !== undefined;
  const content = html`<h1>Sign in</h1>
${application === undefined ? '' : html`<p><strong>${application}</strong> requests access to your account. Sign in to see the requested scope.</p>`}
${wasRejected ? html`<p class="alert" role="alert" id="problem">The e-mail address or the password is wrong.</p>` : ''}
<form method="post" action="/panel/sign-in">
<input type="hidden" name="next" value="${next}">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required autofocus value="${rejectedEmail ?? ''}"${wasRejected ? html` aria-describedby="problem"` : ''}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<div class="actions"><button class="main" type="submit">Sign in</button></div>
</form>
<p class="soft">The sandbox printed its users and their passwords when it started.</p>`;
  return renderPage(status, { title: 'Sign in', content, leavesOrigin: true });
}

/** Finds the application of the authorization request in the URL `next`, to which the sign-in page redirects. */
function applicationOf(next: string, { world }: Service): Pick<SignInPageOptions, 'application'> {
  const clientId = new URLSearchParams(authorizationQuery(next)).get('client_id');
  const application = world.registry.application(clientId ?? '')?.name;
  return application === undefined ? {} : { application };
}

/** Returns the query if `path` is an authorization request; undefined for any other path. */
function authorizationQuery(next: string): string | undefined {
  return next.startsWith(AUTHORIZE) ? next.slice(AUTHORIZE.length) : undefined;
}

const AUTHORIZE = '/v1/oauth/authorize?';

/** Accepts only a path of this origin, because `//host` and backslashes lead to other hosts. */
function localPath(next: string | null): string {
  if (next === null || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next) || next.includes('\\')) return '/panel';
  return asciiQuery(next);
}
