import { html } from 'hono/html';
import { type Markup, type Reply, redirect } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Authorization } from '../records.ts';
import type { Service } from '../service.ts';
import { scopeInWords } from './consent-page.ts';
import { errorPage } from './error-page.ts';
import { panelPage } from './page.ts';
import { isForeignForm, type Visit } from './session.ts';

/** What the person has authorized, each with a button that takes it back. */
export function listApplications(_request: Request, service: Service, visit: Visit): Reply {
  const authorizations = service.world.authorizationsOf(visit.person.uuid);
  const content = html`<h1>My applications</h1>
<p>Applications you have authorized. Revoking one ends its codes and tokens at once.</p>
${authorizations.length === 0 ? html`<p class="soft">You have authorized no application.</p>` : ''}
${authorizations.map((authorization) => entry(authorization, service, visit))}`;
  return panelPage(200, { title: 'My applications', content, visitor: visit.person.name, isWide: true });
}

export function revokeApplication(request: Request, { world }: Service, visit: Visit): Reply {
  const form = new URLSearchParams(request.body);
  const clientId = form.get('client_id') ?? '';
  const isGenuine =
    !isForeignForm(request) && world.closeForm(visit.session, revokeForm(clientId), form.get('csrf') ?? '');
  if (!isGenuine) return errorPage(403, 'This form was already used.', [], '/panel/applications');
  const authorization = world.authorization(visit.person.uuid, clientId);
  if (authorization !== undefined) world.withdraw(authorization);
  return redirect(303, '/panel/applications');
}

function entry(authorization: Authorization, { world }: Service, visit: Visit): Markup {
  const { clientId, scope, team, since } = authorization;
  const name = world.directory.application(clientId)?.name ?? clientId;
  const csrf = world.openForm(visit.session, revokeForm(clientId));
  const account = team === undefined ? 'your own account' : `the team ${world.directory.team(team)?.name ?? team}`;
  return html`<section class="application" aria-label="${name}">
<div>
<h2>${name}</h2>
<p>${scopeInWords(scope).join('. ')}.</p>
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
