import { html } from 'hono/html';
import type { HtmlMarkup } from '../http/reply.ts';
import type { Droplet } from '../records.ts';
import { IMAGES_BY_ID } from '../v2/catalogue.ts';
import { computePageWindow, formatUtcSecond, ROWS_PER_PAGE, renderPageLinks, renderTable } from './listing.ts';
import { renderPage } from './panel-page.ts';
import type { PanelHandler } from './panel-session.ts';

/**
 * Shows the droplets of the person, or of one of the person's teams; with `?droplet=ID` this droplet alone, of the account that
 * has it.
 */
export const dropletsPage: PanelHandler = (request, { world }, { person }) => {
  const teams = person.teams.flatMap((uuid) => world.registry.team(uuid) ?? []);
  const query = new URLSearchParams(request.query);
  const [selected, id] = [query.get('account'), query.get('droplet')];
  const ofAccount = (uuid: string) => world.droplets.of(uuid).filter((one) => id === null || String(one.id) === id);
  const team = teams.find(({ uuid }) => (id === null ? uuid === selected : ofAccount(uuid).length > 0));
  const droplets = ofAccount(team?.uuid ?? person.uuid);
  const window = computePageWindow(request, droplets.length);
  const shown = droplets.slice(window.start, window.start + ROWS_PER_PAGE);
  const now = world.now();
  const content = html`<h1>Droplets</h1>
${teams.length === 0 ? '' : accountLinks(teams, team?.uuid)}
<p>${count(droplets.length)} in ${team === undefined ? 'your own account' : `the team ${team.name}`}. Applications create and delete droplets through the API.</p>
${
  shown.length === 0
    ? ''
    : renderTable(
        'Droplets, oldest first',
        COLUMNS,
        shown.map((droplet) => row(droplet, now)),
      )
}
${renderPageLinks(request, window, 'droplets')}`;
  return renderPage(200, { title: 'Droplets', content, signedInAs: person.name, isWide: true });
};

function accountLinks(
  teams: readonly { readonly uuid: string; readonly name: string }[],
  current: string | undefined,
): HtmlMarkup {
  const link = (uuid: string | undefined, name: string): HtmlMarkup => {
    const href = uuid === undefined ? '/panel/droplets' : `/panel/droplets?account=${uuid}`;
    return html`<a href="${href}"${uuid === current ? html` aria-current="true"` : ''}>${name}</a>`;
  };
  return html`<nav class="tabs" aria-label="Account">${link(undefined, 'My own account')}${teams.map(({ uuid, name }) => link(uuid, name))}</nav>`;
}

function row({ id, name, region, size, image, tags, createdAt, activeAt }: Droplet, now: number) {
  const system = IMAGES_BY_ID.get(image);
  const isActive = now >= activeAt;
  return [
    name,
    id,
    html`<span class="badge ${isActive ? 'good' : ''}">${isActive ? 'active' : 'new'}</span>`,
    region,
    size,
    system === undefined ? image : `${system.distribution} ${system.name}`,
    tags.join(', '),
    formatUtcSecond(createdAt),
  ];
}

function count(total: number): string {
  return total === 1 ? '1 droplet' : `${total} droplets`;
}

const COLUMNS = [
  { title: 'Name', kind: 'header' },
  { title: 'ID', kind: 'number' },
  { title: 'Status' },
  { title: 'Region' },
  { title: 'Size' },
  { title: 'Image' },
  { title: 'Tags' },
  { title: 'Created (UTC)', kind: 'number' },
] as const;
