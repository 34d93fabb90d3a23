import { html } from 'hono/html';
import { type Reply, redirectReply } from '../http/reply.ts';
import { renderPage } from './panel-page.ts';
import type { PanelHandler } from './panel-session.ts';

export function redirectToPanel(): Reply {
  return redirectReply(302, '/panel');
}

export const homePage: PanelHandler = (_request, { world }, { person }) => {
  const teams = person.teams.flatMap((uuid) => world.registry.team(uuid) ?? []);
  const authorized = world.grants.authorizationsOf(person.uuid).length;
  const content = html`<h1>Welcome, ${person.name}</h1>
<dl>
<dt>E-mail address</dt><dd>${person.email}</dd>
<dt>Account</dt><dd>${person.uuid}</dd>
${teams.map((team) => html`<dt>Team</dt><dd>${team.name} (${team.uuid})</dd>`)}
</dl>
<ul class="plain">
<li><a href="/panel/applications">My applications</a>: ${authorized === 0 ? 'you have not authorized any application.' : `you have authorized ${authorized}.`}</li>
<li><a href="/panel/tokens">Tokens</a>: who received them, and who refreshed them.</li>
<li><a href="/panel/droplets">Droplets</a>: in your own account${teams.length === 0 ? '' : ' and your teams'}.</li>
<li><a href="/panel/migrations">Migrations</a>: status of online migrations, and a button to stop them.</li>
<li><a href="/panel/requests">Request log</a>: all requests to the sandbox, from any client.</li>
<li><a href="/panel/timeline">Timeline of a login</a>: the steps of an application, in order.</li>
<li><a href="/panel/clock">Clock and faults</a>: move the virtual clock, and make requests fail.</li>
</ul>`;
  return renderPage(200, { title: 'Home', content, signedInAs: person.name, isWide: true });
};
