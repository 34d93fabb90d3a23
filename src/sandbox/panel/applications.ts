import { html } from 'hono/html';
import { type HttpReply, type Markup, redirectReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import type { Authorization } from '../records.ts';
import type { SandboxService } from '../service.ts';
import { describeScope } from './consent-page.ts';
import { renderErrorPage } from './error-page.ts';
import { renderPanelPage } from './panel-page.ts';
import { isCrossOriginForm, type PanelSession } from './panel-session.ts';

/** What the person has authorized, each with a button that takes it back. */
export function showApplicationsPage(_request: HttpRequest, service: SandboxService, visit: PanelSession): HttpReply {
  const authorizations = service.world.authorizationsOf(visit.person.uuid);
  const content = html`<h1>My applications</h1>
<p>Applications you have authorized. Revoking one ends its codes and tokens at once.</p>
${authorizations.length === 0 ? html`<p class="soft">You have authorized no application.</p>` : ''}
${authorizations.map((authorization) => entry(authorization, service, visit))}`;
  return renderPanelPage(200, { title: 'My applications', content, visitor: visit.person.name, isWide: true });
}

export function revokeApplication(request: HttpRequest, { world }: SandboxService, visit: PanelSession): HttpReply {
  const form = new URLSearchParams(request.body);
  const clientId = form.get('client_id') ?? '';
  const isGenuine =
    !isCrossOriginForm(request) && world.consumeCsrfToken(visit.session, revokeForm(clientId), form.get('csrf') ?? '');
  if (!isGenuine) return renderErrorPage(403, 'This form was already used.', [], '/panel/applications');
  const authorization = world.authorization(visit.person.uuid, clientId);
  if (authorization !== undefined) world.revokeAuthorization(authorization);
  return redirectReply(303, '/panel/applications');
}

function entry(authorization: Authorization, { world }: SandboxService, visit: PanelSession): Markup {
  const { clientId, scope, team, since } = authorization;
  const name = world.registry.application(clientId)?.name ?? clientId;
  const csrf = world.issueCsrfToken(visit.session, revokeForm(clientId));
  const account = team === undefined ? 'your own account' : `the team ${world.registry.team(team)?.name ?? team}`;
  return html`<section class="application" aria-label="${name}">
<div>
<h2>${name}</h2>
<p>${describeScope(scope).join('. ')}.</p>
<p class="soft">For ${account}, since ${new Date(since).toISOString().slice(0, 16).replace('T', ' ')} UTC</p>
</div>
<form method="post" action="/panel/applications/revoke">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="client_id" value="${clientId}">
<button class="bad" type="submit" aria-label="Revoke ${name}">Revoke</button>
</form>
</section>`;
}

function revokeForm(clientId: string): string {
  return `revoke ${clientId}`;
}
