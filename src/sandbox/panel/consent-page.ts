import { html } from 'hono/html';
import type { SandboxHandlerContext } from '../handler-context.ts';
import type { HtmlMarkup, SandboxHttpReply } from '../http/reply.ts';
import { type SandboxHttpRequest, toAsciiUrlQuery } from '../http/request.ts';

import type { SandboxAuthorizationRequest } from '../oauth/rules.ts';
import type { SandboxOAuthScope, SandboxPerson } from '../records.ts';
import { renderPanelPage } from './panel-page.ts';
import type { PanelSession } from './panel-session.ts';

/** Shows the application, the scope and the account, with buttons to authorize or deny the request. */
export function renderConsentPage(
  authorizationRequest: SandboxAuthorizationRequest,
  session: PanelSession,
  request: SandboxHttpRequest,
  service: SandboxHandlerContext,
): SandboxHttpReply {
  const csrf = service.world.sessions.issueToken(session.session, buildConsentCsrfTokenPurpose(request));
  const { application, scope, redirectTo } = authorizationRequest;
  const content = html`<h1>Authorize ${application.name}?</h1>
<p class="soft">You are signed in as ${session.person.name} (${session.person.email}).</p>
<h2>It will be able to</h2>
<ul class="plain">${describeScopeOnConsentPage(scope).map((line) => html`<li>${line}</li>`)}</ul>
<form method="post" action="${request.path}?${toAsciiUrlQuery(request.query)}">
<input type="hidden" name="csrf" value="${csrf}">
${accountChoice(session.person, service)}
<div class="actions">
<button class="main" type="submit" name="decision" value="approve">Authorize application</button>
<button type="submit" name="decision" value="deny">Deny</button>
</div>
<p class="soft">You will be sent to ${new URL(redirectTo.redirectUri).host || redirectTo.redirectUri}. You can revoke the access at any time under My applications.</p>
<button class="quiet" type="submit" name="decision" value="switch">Use another account</button>
</form>`;
  return renderPanelPage(200, { title: `Authorize ${application.name}`, content, leavesOrigin: true });
}

/** The CSRF token of the consent page is valid for this authorization request only. */
export function buildConsentCsrfTokenPurpose(request: SandboxHttpRequest): string {
  return `consent ${toAsciiUrlQuery(request.query)}`;
}

export function describeScopeOnConsentPage(scope: SandboxOAuthScope): readonly string[] {
  const read = 'Read: see your droplets and actions';
  return scope === 'read' ? [read] : [read, 'Write: create, change and delete droplets, and start database migrations'];
}

function accountChoice(person: SandboxPerson, service: SandboxHandlerContext): HtmlMarkup {
  const teams = person.teams.flatMap((uuid) => service.world.registry.team(uuid) ?? []);
  if (teams.length === 0) return html`<input type="hidden" name="account" value="personal">`;
  return html`<fieldset class="choice">
<legend>For which account?</legend>
<label><input type="radio" name="account" value="personal" checked> My own account</label>
${teams.map((team) => html`<label><input type="radio" name="account" value="${team.uuid}"> The team ${team.name}</label>`)}
</fieldset>`;
}
