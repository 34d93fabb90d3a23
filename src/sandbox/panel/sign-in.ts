import { html } from 'hono/html';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { redirectReply, type SandboxHttpReply } from '../http/reply.ts';
import { type SandboxHttpRequest, toAsciiUrlQuery } from '../http/request.ts';
import { findLoginCorrelationOfAuthorizationRequest, type LoginCorrelationFinder } from '../login-timeline.ts';
import { equalSecrets } from '../random.ts';
import { renderErrorPage, renderPanelPage } from './panel-page.ts';

import {
  addSessionCookie,
  endPanelSession,
  isCrossOriginForm,
  type PanelRequestHandler,
  startPanelSession,
} from './panel-session.ts';

export interface SignInPageOptions {
  /** The path of this origin that the browser opens after the sign-in. */
  readonly next: string;
  /** The application that requests access to the account. */
  readonly application?: string;
  /** The e-mail address of a failed sign-in. */
  readonly rejectedEmail?: string;
}

export function renderSignInPanelPage(request: SandboxHttpRequest, service: SandboxHandlerContext): SandboxHttpReply {
  const next = localPath(new URLSearchParams(request.query).get('next'));
  return renderSignInPage(200, { next, ...applicationOf(next, service) });
}

export function handleSignInForm(request: SandboxHttpRequest, service: SandboxHandlerContext): SandboxHttpReply {
  if (isCrossOriginForm(request)) return renderErrorPage(403, 'The form was submitted from another site.');
  const form = new URLSearchParams(request.body);
  const next = localPath(form.get('next'));
  const email = form.get('email') ?? '';
  const person = service.world.registry.personByEmail(email);
  // The password is also compared for an unknown person, so that the response time does not reveal who is registered.
  const isPasswordRight = equalSecrets(form.get('password') ?? '', person?.password ?? '') && person !== undefined;
  const session = isPasswordRight ? startPanelSession(person.uuid, service) : undefined;
  if (session === undefined)
    return renderSignInPage(403, { next, rejectedEmail: email, ...applicationOf(next, service) });
  return addSessionCookie(redirectReply(303, next), session, service);
}

/** When the sign-in belongs to an authorization request, `next` contains that request. */
export const findLoginCorrelationOfSignIn: LoginCorrelationFinder = (request, service) => {
  const query = authorizationQuery(localPath(new URLSearchParams(request.body).get('next')));
  return query === undefined ? undefined : findLoginCorrelationOfAuthorizationRequest(request, query, service);
};

export const handleSignOutForm: PanelRequestHandler = (request, service, session) => {
  if (isCrossOriginForm(request)) return renderErrorPage(403, 'The form was submitted from another site.');
  return endPanelSession(redirectReply(303, '/panel/sign-in'), session, service);
};

export function renderSignInPage(
  status: number,
  { next, application, rejectedEmail }: SignInPageOptions,
): SandboxHttpReply {
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
  return renderPanelPage(status, { title: 'Sign in', content, leavesOrigin: true });
}

/** Finds the application of the authorization request in the URL `next`, to which the sign-in page redirects. */
function applicationOf(next: string, { world }: SandboxHandlerContext): Pick<SignInPageOptions, 'application'> {
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
  return toAsciiUrlQuery(next);
}
