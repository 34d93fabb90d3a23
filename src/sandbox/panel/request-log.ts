import { html } from 'hono/html';
import type { HtmlMarkup } from '../http/reply.ts';
import type { LoggedRequest } from '../request-log.ts';
import {
  applicationName,
  computePageWindow,
  formatUtcSecond,
  ROWS_PER_PAGE,
  renderPageLinks,
  renderTable,
} from './listing.ts';
import { renderPage } from './panel-page.ts';
import type { PanelHandler } from './panel-session.ts';

/** Shows the requests to the sandbox without their secrets, newest first. */
export const requestsPage: PanelHandler = (request, { log, world }, { person }) => {
  const endpoint = new URLSearchParams(request.query).get('endpoint') || undefined;
  const entries = log.list(endpoint);
  const window = computePageWindow(request, entries.length);
  const end = entries.length - window.start;
  const shown = entries.slice(Math.max(0, end - ROWS_PER_PAGE), end).reverse();
  const nameOf = (clientId: string | undefined): string =>
    clientId === undefined ? '' : applicationName(clientId, world);
  const content = html`<h1>Request log</h1>
<p>Requests to the sandbox, newest first. Queries, bodies and secrets are not shown; of a token, only the last four characters.</p>
${endpointFilter(log.counts(), endpoint)}
${
  shown.length === 0
    ? html`<p class="soft">No matching requests.</p>`
    : renderTable(
        'Requests, newest first',
        COLUMNS,
        shown.map((entry) => row(entry, nameOf(entry.client_id))),
      )
}
${renderPageLinks(request, window, 'the request log')}`;
  return renderPage(200, { title: 'Request log', content, signedInAs: person.name, isWide: true });
};

/** Describes the effect of a fault on a request; empty for a request without a fault. */
export function describeFaultEffect({ fault, committed, delivered }: LoggedRequest): string {
  if (fault === undefined) return '';
  return `fault ${fault}: request ${committed ? 'carried out' : 'not carried out'}, response ${delivered ? 'delivered' : 'not delivered'}`;
}

function endpointFilter(counts: Readonly<Record<string, number>>, selected: string | undefined): HtmlMarkup {
  const known = Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1));
  return html`<form class="filter" method="get" action="/panel/requests">
<label for="endpoint">Endpoint</label>
<select id="endpoint" name="endpoint">
<option value="">All</option>
${known.map(([name, count]) => html`<option value="${name}"${name === selected ? html` selected` : ''}>${name} (${count})</option>`)}
</select>
<button type="submit">Show</button>
</form>`;
}

function row(entry: LoggedRequest, application: string) {
  const { at, method, path, status, grant_type, token_hint } = entry;
  const hint = token_hint === undefined ? undefined : `token …${token_hint}`;
  const details = [grant_type, hint, describeFaultEffect(entry)].filter((part) => part !== undefined && part !== '');
  const kind = status === 0 || status >= 400 ? 'bad' : 'good';
  return [
    formatUtcSecond(Date.parse(at)),
    `${method} ${path}`,
    html`<span class="badge ${kind}">${status === 0 ? 'none' : status}</span>`,
    application,
    details.join(', '),
  ];
}

const COLUMNS = [
  { title: 'Time (UTC)', kind: 'number' },
  { title: 'Request', kind: 'code' },
  { title: 'Status' },
  { title: 'Application' },
  { title: 'Details' },
] as const;
