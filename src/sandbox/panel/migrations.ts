import { html } from 'hono/html';
import { type Markup, type Reply, redirect } from '../http/reply.ts';
import type { Request } from '../http/request.ts';
import { deadlineOf, stopMigration as end, latestMigration, migrationFate } from '../migrations.ts';
import type { Cluster, Migration } from '../records.ts';
import type { Service } from '../service.ts';
import { errorPage } from './error-page.ts';
import { panelPage } from './page.ts';
import { isForeignForm, type Visit } from './session.ts';

/** The online migrations of every cluster, with a button that stops the one that runs. */
export function listMigrations(_request: Request, service: Service, visit: Visit): Reply {
  const { world } = service;
  const content = html`<h1>Migrations</h1>
<p>Stopping a migration keeps what has been migrated. It stops by itself after two weeks.</p>
${world.seed.clusters.map((cluster) => clusterEntry(cluster, service, visit))}`;
  return panelPage(200, { title: 'Migrations', content, visitor: visit.person.name, isWide: true });
}

export function stopMigration(request: Request, { world }: Service, visit: Visit): Reply {
  const form = new URLSearchParams(request.body);
  const id = form.get('migration') ?? '';
  const isGenuine = !isForeignForm(request) && world.closeForm(visit.session, stopForm(id), form.get('csrf') ?? '');
  if (!isGenuine) return errorPage(403, 'This form was already used.', [], '/panel/migrations');
  const migration = world.seed.clusters
    .map(({ uuid }) => latestMigration(world.migrations, uuid))
    .find((one) => one?.id === id);
  if (migration !== undefined) end(world.migrations, migration, world.now());
  return redirect(303, '/panel/migrations');
}

function clusterEntry(cluster: Cluster, service: Service, visit: Visit): Markup {
  const migration = latestMigration(service.world.migrations, cluster.uuid);
  const engine = cluster.engine === 'postgresql' ? 'PostgreSQL' : 'Redis';
  return html`<section class="application" aria-label="${cluster.name}">
<div>
<h2>${cluster.name}</h2>
<p class="soft">${engine} ${cluster.version}, ${cluster.uuid}</p>
${migration === undefined ? html`<p>No migration yet.</p>` : story(migration, service.world.now())}
${cluster.dataPlane === 'none' ? html`<p class="soft">This cluster has no data plane: the state is real, no rows are moved.</p>` : ''}
</div>
${migration === undefined ? '' : stopButton(migration, cluster, service, visit)}
</section>`;
}

function story(migration: Migration, now: number): Markup {
  const { status, stop } = migrationFate(migration, now);
  const { host, port, dbname } = migration.source;
  const from = `${host}${port === undefined ? '' : `:${port}`}${dbname === undefined ? '' : `/${dbname}`}`;
  const end = status === 'running' ? `until ${minute(deadlineOf(migration))} at the latest` : why(stop);
  return html`<p><strong>${status}</strong>: from ${from}, since ${minute(migration.startedAt)}, ${end}</p>`;
}

function why(stop: ReturnType<typeof migrationFate>['stop']): string {
  if (stop === undefined) return '';
  return stop.reason === 'max_duration'
    ? `stopped by itself after two weeks, ${minute(stop.at)}`
    : `stopped ${minute(stop.at)}`;
}

function stopButton(migration: Migration, cluster: Cluster, { world }: Service, visit: Visit): Markup | string {
  if (migrationFate(migration, world.now()).status !== 'running') return '';
  const csrf = world.openForm(visit.session, stopForm(migration.id));
  return html`<form method="post" action="/panel/migrations/stop">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="migration" value="${migration.id}">
<button class="bad" type="submit" aria-label="Stop the migration into ${cluster.name}">Stop</button>
</form>`;
}

function minute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function stopForm(id: string): string {
  return `stop ${id}`;
}
