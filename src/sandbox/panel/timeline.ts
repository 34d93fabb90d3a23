import { html } from 'hono/html';
import type { HttpReply, Markup } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { buildTimeline, type LoginTimeline, type TimelineStep } from '../login-timeline.ts';
import type { SandboxService } from '../service.ts';
import { formatUtcSecond, renderTable } from './listing.ts';
import { renderPanelPage } from './panel-page.ts';
import type { PanelSession } from './panel-session.ts';
import { describeFault } from './request-log.ts';

/** Shows the logins of one application with their steps, times and status. */
export function showTimelinePage(
  request: HttpRequest,
  { log, world }: SandboxService,
  { person }: PanelSession,
): HttpReply {
  const { applications } = world.seed;
  const requested = new URLSearchParams(request.query).get('client_id');
  const selected = applications.find(({ clientId }) => clientId === requested) ?? applications[0];
  const { logins, others } = buildTimeline(log.traced(), selected?.clientId ?? '');
  const nameOf = (uuid: string | undefined): string | undefined => world.registry.person(uuid ?? '')?.name;
  const content = html`<h1>Timeline of a login</h1>
<p>The requests of an application and their results, from the authorization request to the API calls, newest login first. Codes, tokens and secrets are not shown.</p>
<form class="filter" method="get" action="/panel/timeline">
<label for="client_id">Application</label>
<select id="client_id" name="client_id">
${applications.map(({ clientId, name }) => html`<option value="${clientId}"${clientId === selected?.clientId ? html` selected` : ''}>${name}</option>`)}
</select>
<button type="submit">Show</button>
</form>
${logins.length === 0 && others.length === 0 ? html`<p class="soft">${selected?.name ?? 'This application'} has sent no requests.</p>` : ''}
${logins.slice(0, LOGINS_SHOWN).map((login) => loginSection(login, nameOf(login.person)))}
${logins.length > LOGINS_SHOWN ? html`<p class="soft">${logins.length - LOGINS_SHOWN} earlier logins are not shown.</p>` : ''}
${
  others.length === 0
    ? ''
    : html`<h2>Without a login</h2>
<p class="soft">Requests with tokens that no logged login issued, for instance tokens issued by the admin API.</p>
${stepTable('Requests without a login', others, others[0]?.at ?? '')}`
}`;
  return renderPanelPage(200, { title: 'Timeline of a login', content, signedInAs: person.name, isWide: true });
}

function loginSection(login: LoginTimeline, name: string | undefined): Markup {
  const title = `${formatUtcSecond(Date.parse(login.at))} UTC${name === undefined ? '' : `, ${name}`}`;
  return html`<h2>${title}</h2>
${stepTable(`Login of ${title}`, login.steps, login.at)}`;
}

/** Shows only the newest steps of a long list. */
function stepTable(caption: string, all: readonly TimelineStep[], start: string): Markup {
  const shown = all.slice(-STEPS_SHOWN);
  const left = all.length - shown.length;
  return html`${left === 0 ? '' : html`<p class="soft">${left} earlier steps are not shown.</p>`}
${renderTable(
  caption,
  HEADS,
  shown.map((step) => row(step, Date.parse(start))),
)}`;
}

function row({ at, description: what, entry, count }: TimelineStep, start: number): Markup {
  const fault = entry === undefined ? '' : describeFault(entry);
  const request = entry === undefined ? '' : `${entry.method} ${entry.path}`;
  return html`<tr>
<td class="number">${formatElapsed(Date.parse(at) - start)}</td>
<td class="number">${entry === undefined ? '' : entry.status === 0 ? 'none' : entry.status}</td>
<th scope="row">${what}${count === 1 ? '' : `, ${count} times`}${fault === '' ? '' : ` (${fault})`}</th>
<td class="code">${request}</td>
</tr>
`;
}

/** Formats the time since the first step, such as `+0.25 s`, `+3 min 20 s`, `+29 d 3 h`. */
function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `+${days} d ${hours} h`;
  if (hours > 0) return `+${hours} h ${minutes} min`;
  return minutes > 0 ? `+${minutes} min ${seconds % 60} s` : `+${(ms / 1000).toFixed(2)} s`;
}

const LOGINS_SHOWN = 20;
const STEPS_SHOWN = 200;
const HEADS = ['Time', 'Status', 'Step', 'Request'];
