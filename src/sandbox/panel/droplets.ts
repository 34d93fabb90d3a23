import { html } from 'hono/html';
import type { Markup, Reply } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Droplet } from '../records.ts';
import type { Service } from '../service.ts';
import { IMAGES_BY_ID } from '../v2/catalogue.ts';
import { PER_PAGE, pager, second, table, windowOf } from './listing.ts';
import { panelPage } from './page.ts';
import type { Visit } from './session.ts';

/** The droplets of the person's own account, or of one of the person's teams. */
export function listDroplets(request: Request, { world }: Service, { person }: Visit): Reply {
  const teams = person.teams.flatMap((uuid) => world.directory.team(uuid) ?? []);
  const asked = new URLSearchParams(request.query).get('account');
  const team = teams.find(({ uuid }) => uuid === asked);
  const droplets = world.droplets(team?.uuid ?? person.uuid);
  const window = windowOf(request, droplets.length);
  const shown = droplets.slice(window.start, window.start + PER_PAGE);
  const now = world.now();
  const content = html`<h1>Droplets</h1>
${teams.length === 0 ? '' : accounts(teams, team?.uuid)}
<p>${count(droplets.length)} in ${team === undefined ? 'your own account' : `the team ${team.name}`}. Applications create and delete them through the API.</p>
${
  shown.length === 0
    ? ''
    : table(
        'Droplets, oldest first',
        HEADS,
        shown.map((droplet) => row(droplet, now)),
      )
}
${pager(request, window, 'droplets')}`;
  return panelPage(200, { title: 'Droplets', content, visitor: person.name, isWide: true });
}

function accounts(
  teams: readonly { readonly uuid: string; readonly name: string }[],
  chosen: string | undefined,
): Markup {
  const link = (uuid: string | undefined, name: string): Markup => {
    const href = uuid === undefined ? '/panel/droplets' : `/panel/droplets?account=${uuid}`;
    return html`<a href="${href}"${uuid === chosen ? html` aria-current="true"` : ''}>${name}</a>`;
  };
  return html`<nav class="tabs" aria-label="Account">${link(undefined, 'My own account')}${teams.map(({ uuid, name }) => link(uuid, name))}</nav>`;
}

function row({ id, name, region, size, image, tags, createdAt, activeAt }: Droplet, now: number): Markup {
  const system = IMAGES_BY_ID.get(image);
  return html`<tr>
<th scope="row">${name}</th>
<td class="number">${id}</td>
<td>${now >= activeAt ? 'active' : 'new'}</td>
<td>${region}</td>
<td>${size}</td>
<td>${system === undefined ? image : `${system.distribution} ${system.name}`}</td>
<td>${tags.join(', ')}</td>
<td class="number">${second(createdAt)}</td>
</tr>
`;
}

function count(total: number): string {
  return total === 1 ? '1 droplet' : `${total} droplets`;
}

const HEADS = ['Name', 'ID', 'Status', 'Region', 'Size', 'Image', 'Tags', 'Created (UTC)'];
