import { html } from 'hono/html';
import { type HttpReply, type Markup, redirectReply } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';
import { markMigrationStopped as end, getMigrationDeadline, latestMigration } from '../migration-store.ts';
import { formatPlaneAddress } from '../ready-line.ts';
import type { SandboxCluster, SandboxMigration } from '../records.ts';
import type { SandboxService } from '../service.ts';
import { type CurrentMigrationState, getCurrentMigrationState } from '../v2/migration-view.ts';
import { renderErrorPage } from './error-page.ts';
import { renderMigrationProgress } from './migration-progress.ts';
import { renderPanelPage } from './panel-page.ts';
import { isCrossOriginForm, type PanelSession } from './panel-session.ts';

/** The online migrations of every cluster, with a button that stops the one that runs. */
export function showMigrationsPage(_request: HttpRequest, service: SandboxService, visit: PanelSession): HttpReply {
  const { world } = service;
  const content = html`<h1>Migrations</h1>
<p>Stopping a migration keeps what has been migrated. It stops by itself after two weeks.</p>
${world.seed.clusters.map((cluster) => clusterEntry(cluster, service, visit))}`;
  return renderPanelPage(200, { title: 'Migrations', content, visitor: visit.person.name, isWide: true });
}

export function submitStopMigration(
  request: HttpRequest,
  { world, planes }: SandboxService,
  visit: PanelSession,
): HttpReply {
  const form = new URLSearchParams(request.body);
  const id = form.get('migration') ?? '';
  const isGenuine =
    !isCrossOriginForm(request) && world.consumeCsrfToken(visit.session, stopForm(id), form.get('csrf') ?? '');
  if (!isGenuine) return renderErrorPage(403, 'This form was already used.', [], '/panel/migrations');
  const migration = world.seed.clusters
    .map(({ uuid }) => latestMigration(world.state.migrationStore, uuid))
    .find((one) => one?.id === id);
  if (migration !== undefined) {
    end(world.state.migrationStore, migration, world.now());
    planes.stop(migration);
  }
  return redirectReply(303, '/panel/migrations');
}

function clusterEntry(cluster: SandboxCluster, service: SandboxService, visit: PanelSession): Markup {
  const migration = latestMigration(service.world.state.migrationStore, cluster.uuid);
  const engine = cluster.engine === 'postgresql' ? 'PostgreSQL' : 'Redis';
  const plane = service.planes.planeOf(cluster);
  const standing = migration === undefined ? undefined : getCurrentMigrationState(migration, service);
  return html`<section class="application" aria-label="${cluster.name}">
<div>
<h2>${cluster.name}</h2>
<p class="soft">${engine} ${plane?.version ?? cluster.version}, ${cluster.uuid}</p>
${migration === undefined || standing === undefined ? html`<p>No migration yet.</p>` : story(migration, standing)}
${plane === undefined ? html`<p class="soft">This cluster has no data plane: the state is real, no rows are moved.</p>` : html`<p class="soft">Rows go to ${formatPlaneAddress(plane)}.</p>`}
${standing?.live === undefined ? '' : renderMigrationProgress(standing.live)}
</div>
${migration === undefined || standing === undefined ? '' : stopButton(migration, standing, cluster, service, visit)}
</section>`;
}

function story(migration: SandboxMigration, standing: CurrentMigrationState): Markup {
  const { host, port, dbname } = migration.source;
  const from = `${host}${port === undefined ? '' : `:${port}`}${dbname === undefined ? '' : `/${dbname}`}`;
  const end = isUnderWay(standing) ? `until ${minute(getMigrationDeadline(migration))} at the latest` : why(standing);
  return html`<p><strong>${standing.status}</strong>: from ${from}, since ${minute(migration.startedAt)}${end === '' ? '' : `, ${end}`}</p>`;
}

function why({ status, reason, endedAt }: CurrentMigrationState): string {
  const at = endedAt === undefined ? '' : ` ${minute(endedAt)}`;
  if (status === 'done') return `finished${at}`;
  if (status === 'error') return reason === undefined ? `failed${at}` : `failed${at}: ${reason}`;
  return reason === 'max_duration' ? `stopped by itself after two weeks,${at}` : `stopped${at}`;
}

function stopButton(
  migration: SandboxMigration,
  standing: CurrentMigrationState,
  cluster: SandboxCluster,
  { world }: SandboxService,
  visit: PanelSession,
): Markup | string {
  if (!isUnderWay(standing)) return '';
  const csrf = world.issueCsrfToken(visit.session, stopForm(migration.id));
  return html`<form method="post" action="/panel/migrations/stop">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="migration" value="${migration.id}">
<button class="bad" type="submit" aria-label="Stop the migration into ${cluster.name}">Stop</button>
</form>`;
}

function isUnderWay({ status }: CurrentMigrationState): boolean {
  return status === 'running' || status === 'syncing';
}

function minute(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function stopForm(id: string): string {
  return `stop ${id}`;
}
