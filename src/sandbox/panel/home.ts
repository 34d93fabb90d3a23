import { html } from 'hono/html';
import { type Reply, redirect } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import type { Service } from '../service.ts';
import { panelPage } from './page.ts';
import type { Visit } from './session.ts';

export function toPanel(): Reply {
  return redirect(302, '/panel');
}

export function home(_request: Request, { world }: Service, { person }: Visit): Reply {
  const teams = person.teams.flatMap((uuid) => world.directory.team(uuid) ?? []);
  const authorized = world.authorizationsOf(person.uuid).length;
  const content = html`<h1>Welcome, ${person.name}</h1>
<dl>
<dt>E-mail address</dt><dd>${person.email}</dd>
<dt>Account</dt><dd>${person.uuid}</dd>
${teams.map((team) => html`<dt>Team</dt><dd>${team.name} (${team.uuid})</dd>`)}
</dl>
<p>${authorized === 0 ? 'You have authorized no application yet.' : html`You have authorized ${authorized} of the registered applications. <a href="/panel/applications">See and revoke them</a>.`}</p>`;
  return panelPage(200, { title: 'Home', content, visitor: person.name, isWide: true });
}
