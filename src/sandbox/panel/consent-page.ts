import { html } from 'hono/html';
import { asciiQuery } from '../http/ascii.ts';
import type { Markup, Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Wish } from '../oauth/wish.ts';
import type { Person, Scope } from '../records.ts';
import type { Service } from '../service.ts';
import { panelPage } from './page.ts';
import type { Visit } from './session.ts';

/** Names the application, the scope in words and the account, and asks. */
export function consentPage(wish: Wish, visit: Visit, request: Request, service: Service): Reply {
  const csrf = service.world.openForm(visit.session, consentForm(request));
  const { application, scope, to } = wish;
  const content = html`<h1>Authorize ${application.name}?</h1>
<p class="soft">You are signed in as ${visit.person.name} (${visit.person.email}).</p>
<h2>It will be able to</h2>
<ul class="plain">${scopeInWords(scope).map((sentence) => html`<li>${sentence}</li>`)}</ul>
<form method="post" action="${request.path}?${asciiQuery(request.query)}">
<input type="hidden" name="csrf" value="${csrf}">
${accountChoice(visit.person, service)}
<div class="actions">
<button class="main" type="submit" name="decision" value="approve">Authorize application</button>
<button type="submit" name="decision" value="deny">Deny</button>
</div>
<p class="soft">You will be sent to ${new URL(to.redirectUri).host || to.redirectUri}. You can take the access back at any time under My applications.</p>
<button class="quiet" type="submit" name="decision" value="switch">Use another account</button>
</form>`;
  return panelPage(200, { title: `Authorize ${application.name}`, content, leavesOrigin: true });
}

/** What a CSRF token of this page is good for: this very authorization request. */
export function consentForm(request: Request): string {
  return `consent ${asciiQuery(request.query)}`;
}

export function scopeInWords(scope: Scope): readonly string[] {
  const read = 'Read: see your droplets and actions';
  return scope === 'read' ? [read] : [read, 'Write: create, change and delete droplets, and start database migrations'];
}

function accountChoice(person: Person, service: Service): Markup {
  const teams = person.teams.flatMap((uuid) => service.world.directory.team(uuid) ?? []);
  if (teams.length === 0) return html`<input type="hidden" name="account" value="personal">`;
  return html`<fieldset class="choice">
<legend>For which account?</legend>
<label><input type="radio" name="account" value="personal" checked> My own account</label>
${teams.map((team) => html`<label><input type="radio" name="account" value="${team.uuid}"> The team ${team.name}</label>`)}
</fieldset>`;
}
