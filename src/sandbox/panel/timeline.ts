import { html } from 'hono/html';
import type { HtmlMarkup } from '../http/reply.ts';
import { buildTimelines, type Timeline, type TimelineStep } from '../login-timeline.ts';
import { formatElapsedTime, formatUtcSecond } from './listing.ts';
import { renderPage } from './panel-page.ts';
import type { PanelHandler } from './panel-session.ts';
import { describeFaultEffect } from './request-log.ts';

/** Shows the logins of one application with their steps, times and status. */
export const timelinePage: PanelHandler = (request, { log, world }, { person }) => {
  const { applications } = world.seed;
  const requested = new URLSearchParams(request.query).get('client_id');
  const selected = applications.find(({ clientId }) => clientId === requested) ?? applications[0];
  const logins = buildTimelines(log.traced(), selected?.clientId ?? '');
  const nameOf = (uuid: string | undefined): string | undefined => world.registry.person(uuid ?? '')?.name;
  const content = html`<h1>Timeline of a login</h1>
<p>The requests of an application and their results, from the authorization request to the API calls, newest login first. A request stands under the login that its token comes from. Codes, tokens and secrets are not shown.</p>
<form class="filter" method="get" action="/panel/timeline">
<label for="client_id">Application</label>
<select id="client_id" name="client_id">
${applications.map(({ clientId, name }) => html`<option value="${clientId}"${clientId === selected?.clientId ? html` selected` : ''}>${name}</option>`)}
</select>
<button type="submit">Show</button>
</form>
${logins.length === 0 ? html`<p class="soft">${selected?.name ?? 'This application'} has sent no requests.</p>` : ''}
${logins.slice(0, LOGINS_SHOWN).map((login) => loginSection(login, nameOf(login.person)))}
${logins.length > LOGINS_SHOWN ? html`<p class="soft">${logins.length - LOGINS_SHOWN} earlier logins are not shown.</p>` : ''}`;
  return renderPage(200, { title: 'Timeline of a login', content, signedInAs: person.name, isWide: true });
};

/** The fragment of a login in the address of the page. */
export function timelineFragment(chain: string): string {
  return `login-${chain}`;
}

/** Shows one login with its newest steps; earlier steps of a long list are left out. */
function loginSection(login: Timeline, name: string | undefined): HtmlMarkup {
  const { at, chain, steps, hasAuthorizationRequest } = login;
  const title = `${formatUtcSecond(Date.parse(at))} UTC${name === undefined ? '' : `, ${name}`}`;
  const shown = steps.slice(-STEPS_SHOWN);
  const left = steps.length - shown.length;
  return html`<section class="group"${chain === undefined ? '' : html` id="${timelineFragment(chain)}"`}>
<h2>${title}</h2>
${hasAuthorizationRequest ? '' : html`<p class="soft">Without a login: the log has no authorization request for these tokens. The admin API issued them, or the log was cleared since.</p>`}
${left === 0 ? '' : html`<p class="soft">${left} earlier steps are not shown.</p>`}
<ol class="steps short">
${shown.map((step) => renderStep(step, Date.parse(at)))}
</ol>
</section>`;
}

function renderStep({ at, description, entry, count }: TimelineStep, start: number): HtmlMarkup {
  const fault = entry === undefined ? '' : describeFaultEffect(entry);
  const status = entry === undefined ? undefined : entry.status === 0 ? 'no response' : entry.status;
  const isBad = entry !== undefined && (entry.status === 0 || entry.status >= 400);
  return html`<li class="${isBad ? 'bad' : entry === undefined ? 'minor' : 'good'}">
<span class="when">+${formatElapsedTime(Date.parse(at) - start)}</span>
<div><strong>${description}</strong>${count === 1 ? '' : html`, ${count} times`}${fault === '' ? '' : html` (${fault})`}
${entry === undefined ? '' : html`<p class="request"><code>${entry.method} ${entry.path}</code> <span class="badge">${status}</span></p>`}</div>
</li>
`;
}

const LOGINS_SHOWN = 20;
const STEPS_SHOWN = 200;
