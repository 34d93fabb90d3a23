import { html } from 'hono/html';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { type HtmlMarkup, redirectReply } from '../http/reply.ts';
import type { ApplicationAuthorization } from '../records.ts';
import { describeScopeOnConsentPage } from './consent-page.ts';
import { describeAuthorizedAccount, formatUtcMinute, getApplicationName } from './listing.ts';
import { renderPanelPage, renderUsedFormPage } from './panel-page.ts';

import { consumeFormCsrfToken, type PanelRequestHandler, type PanelSession } from './panel-session.ts';

/** Shows the applications that the person has authorized, each with a button that revokes the authorization. */
export const renderApplicationsPanelPage: PanelRequestHandler = (_request, service, session) => {
  const authorizations = service.world.grants.authorizationsOf(session.person.uuid);
  const content = html`<h1>My applications</h1>
<p>Applications that you have authorized. Revoking an authorization invalidates its codes and tokens immediately.</p>
${authorizations.length === 0 ? html`<p class="soft">You have not authorized any application.</p>` : ''}
${authorizations.map((authorization) => entry(authorization, service, session))}`;
  return renderPanelPage(200, { title: 'My applications', content, signedInAs: session.person.name, isWide: true });
};

export const handleRevokeApplicationForm: PanelRequestHandler = (request, service, session) => {
  const id = new URLSearchParams(request.body).get('authorization') ?? '';
  if (!consumeFormCsrfToken(request, session, service, revokeFormId(id))) {
    return renderUsedFormPage('/panel/applications');
  }
  const { world } = service;
  const authorization = world.grants.authorizationsOf(session.person.uuid).find((one) => one.id === id);
  if (authorization !== undefined) world.grants.revokeAuthorization(authorization);
  return redirectReply(303, '/panel/applications');
};

function entry(
  authorization: ApplicationAuthorization,
  { world }: SandboxHandlerContext,
  session: PanelSession,
): HtmlMarkup {
  const { id, clientId, scope, team, since } = authorization;
  const name = getApplicationName(clientId, world);
  const csrf = world.sessions.issueToken(session.session, revokeFormId(id));
  const account = describeAuthorizedAccount(team, world);
  return html`<section class="application" aria-label="${name}">
<div>
<h2>${name}</h2>
<p>${describeScopeOnConsentPage(scope).join('. ')}.</p>
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
