import { html } from 'hono/html';
import { equalSecrets } from '../equal-secrets.ts';
import { toAsciiQuery } from '../http/ascii-query.ts';
import { type HttpReply, redirectReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { traceAuthorizationRequest } from '../login-trace.ts';
import type { LoginTrace } from '../request-log.ts';
import type { SandboxService } from '../service.ts';
import { renderErrorPage } from './error-page.ts';
import { renderPanelPage } from './panel-page.ts';
import {
  addSessionCookie,
  endPanelSession,
  isCrossOriginForm,
  type PanelSession,
  startPanelSession,
} from './panel-session.ts';

export interface SignInOptions {
  /** Where to go afterwards; a path of this origin. */
  readonly next: string;
  /** The application that asks for access. */
  readonly application?: string;
  /** What was entered before and did not fit. */
  readonly rejectedEmail?: string;
}

export function showSignInPage(request: HttpRequest, service: SandboxService): HttpReply {
  const next = localPath(new URLSearchParams(request.query).get('next'));
  return renderSignInPage(200, { next, ...applicationOf(next, service) });
}

export function submitSignIn(request: HttpRequest, service: SandboxService): HttpReply {
  if (isCrossOriginForm(request)) return renderErrorPage(403, 'The form was shown by another site.');
  const form = new URLSearchParams(request.body);
  const next = localPath(form.get('next'));
  const email = form.get('email') ?? '';
  const person = service.world.registry.personByEmail(email);
  // An unknown person costs the same comparison as a known one.
  const isRight = equalSecrets(form.get('password') ?? '', person?.password ?? '') && person !== undefined;
  const visit = isRight ? startPanelSession(person.uuid, service) : undefined;
  if (visit === undefined)
    return renderSignInPage(403, { next, rejectedEmail: email, ...applicationOf(next, service) });
  return addSessionCookie(redirectReply(303, next), visit, service);
}

/** The sign-in page of an authorization request keeps it as the address to go back to. */
export function traceSignIn(request: HttpRequest, service: SandboxService): LoginTrace | undefined {
  const query = authorizationQuery(localPath(new URLSearchParams(request.body).get('next')));
  return query === undefined ? undefined : traceAuthorizationRequest(request, query, service);
}

export function submitSignOut(request: HttpRequest, service: SandboxService, visit: PanelSession): HttpReply {
  if (isCrossOriginForm(request)) return renderErrorPage(403, 'The form was shown by another site.');
  return endPanelSession(redirectReply(303, '/panel/sign-in'), visit, service);
}

export function renderSignInPage(status: number, { next, application, rejectedEmail }: SignInOptions): HttpReply {
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
  return renderPanelPage(status, { title: 'Sign in', content, leavesOrigin: true });
}

/** The application whose authorization request waits behind the sign-in. */
function applicationOf(next: string, { world }: SandboxService): Pick<SignInOptions, 'application'> {
  const clientId = new URLSearchParams(authorizationQuery(next)).get('client_id');
  const application = world.registry.application(clientId ?? '')?.name;
  return application === undefined ? {} : { application };
}

/** The query of an authorization request; undefined for any other address. */
function authorizationQuery(next: string): string | undefined {
  return next.startsWith(AUTHORIZE) ? next.slice(AUTHORIZE.length) : undefined;
}

const AUTHORIZE = '/v1/oauth/authorize?';

/** Only a path of this origin: `//host` and a backslash lead elsewhere. */
function localPath(next: string | null): string {
  if (next === null || !/^\/(?![/\\])[\x21-\x7e]*$/.test(next) || next.includes('\\')) return '/panel';
  return toAsciiQuery(next);
}
