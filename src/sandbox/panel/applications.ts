import { html } from 'hono/html';
import { type HtmlMarkup, redirectReply } from '../http/reply.ts';
import type { Authorization } from '../records.ts';
import type { Service } from '../service.ts';
import { describeScope } from './consent-page.ts';
import { applicationName, describeAccount, formatUtcMinute } from './listing.ts';
import { renderPage, renderUsedForm } from './panel-page.ts';
import { consumeFormToken, type PanelHandler, type PanelSession } from './panel-session.ts';

/** Shows the applications that the person has authorized, each with a button that revokes the authorization. */
export const applicationsPage: PanelHandler = (_request, service, session) => {
  const authorizations = service.world.grants.authorizationsOf(session.person.uuid);
  const content = html`<h1>My applications</h1>
<p>Applications that you have authorized. Revoking an authorization invalidates its codes and tokens immediately.</p>
${authorizations.length === 0 ? html`<p class="soft">You have not authorized any application.</p>` : ''}
${authorizations.map((authorization) => entry(authorization, service, session))}`;
  return renderPage(200, { title: 'My applications', content, signedInAs: session.person.name, isWide: true });
};

export const revokeApplication: PanelHandler = (request, service, session) => {
  const id = new URLSearchParams(request.body).get('authorization') ?? '';
  if (!consumeFormToken(request, session, service, revokeFormId(id))) {
    return renderUsedForm('/panel/applications');
  }
  const { world } = service;
  const authorization = world.grants.authorizationsOf(session.person.uuid).find((one) => one.id === id);
  if (authorization !== undefined) world.grants.revokeAuthorization(authorization);
  return redirectReply(303, '/panel/applications');
};

function entry(authorization: Authorization, { world }: Service, session: PanelSession): HtmlMarkup {
  const { id, clientId, scope, team, since } = authorization;
  const name = applicationName(clientId, world);
  const csrf = world.sessions.issueToken(session.session, revokeFormId(id));
  const account = describeAccount(team, world);
  return html`<section class="application" aria-label="${name}">
<div>
<h2>${name}</h2>
<p>${describeScope(scope).join('. ')}.</p>
<p class="soft">For ${account}, since ${formatUtcMinute(since)}</p>
</div>
<form method="post" action="/panel/applications/revoke">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="authorization" value="${id}">
<button class="bad" type="submit" aria-label="Revoke ${name} for ${account}">Revoke</button>
</form>
</section>`;
}

function revokeFormId(authorization: string): string {
  return `revoke ${authorization}`;
}
