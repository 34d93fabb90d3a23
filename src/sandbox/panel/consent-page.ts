import { html } from 'hono/html';
import type { HtmlMarkup, Reply } from '../http/reply.ts';
import { asciiQuery, type HttpRequest } from '../http/request.ts';
import type { AuthorizationRequest } from '../oauth/rules.ts';
import type { OAuthScope, Person } from '../records.ts';
import type { Service } from '../service.ts';
import { renderPage } from './panel-page.ts';
import type { PanelSession } from './panel-session.ts';

/** Shows the application, the scope and the account, with buttons to authorize or deny the request. */
export function renderConsentPage(
  authorizationRequest: AuthorizationRequest,
  session: PanelSession,
  request: HttpRequest,
  service: Service,
): Reply {
  const csrf = service.world.sessions.issueToken(session.session, consentFormId(request));
  const { application, scope, redirectTo } = authorizationRequest;
  const content = html`<h1>Authorize ${application.name}?</h1>
<p class="soft">You are signed in as ${session.person.name} (${session.person.email}).</p>
<h2>It will be able to</h2>
<ul class="plain">${describeScope(scope).map((line) => html`<li>${line}</li>`)}</ul>
<form method="post" action="${request.path}?${asciiQuery(request.query)}">
<input type="hidden" name="csrf" value="${csrf}">
${accountChoice(session.person, service)}
<div class="actions">
<button class="main" type="submit" name="decision" value="approve">Authorize application</button>
<button type="submit" name="decision" value="deny">Deny</button>
</div>
<p class="soft">You will be sent to ${new URL(redirectTo.redirectUri).host || redirectTo.redirectUri}. You can revoke the access at any time under My applications.</p>
<button class="quiet" type="submit" name="decision" value="switch">Use another account</button>
</form>`;
  return renderPage(200, { title: `Authorize ${application.name}`, content, leavesOrigin: true });
}

/** The CSRF token of the consent page is valid for this authorization request only. */
export function consentFormId(request: HttpRequest): string {
  return `consent ${asciiQuery(request.query)}`;
}

export function describeScope(scope: OAuthScope): readonly string[] {
  const read = 'Read: see your droplets and actions';
  return scope === 'read' ? [read] : [read, 'Write: create, change and delete droplets, and start database migrations'];
}

function accountChoice(person: Person, service: Service): HtmlMarkup {
  const teams = person.teams.flatMap((uuid) => service.world.registry.team(uuid) ?? []);
  if (teams.length === 0) return html`<input type="hidden" name="account" value="personal">`;
  return html`<fieldset class="choice">
<legend>For which account?</legend>
<label><input type="radio" name="account" value="personal" checked> My own account</label>
${teams.map((team) => html`<label><input type="radio" name="account" value="${team.uuid}"> The team ${team.name}</label>`)}
</fieldset>`;
}
