import { html } from 'hono/html';
import type { SandboxHandlerContext } from '../handler-context.ts';
import { type HtmlMarkup, redirectReply } from '../http/http-reply.ts';
import { findLatestSandboxMigrationOfCluster, getSandboxMigrationDeadline } from '../migration-store.ts';
import { formatClusterDatabaseServerAddress } from '../ready-line.ts';
import type { SandboxCluster, SandboxMigration } from '../records.ts';
import {
  type CurrentSandboxMigrationState,
  getCurrentSandboxMigrationState,
  isStatusUnderWay,
} from '../v2/migration-json.ts';
import { stopSandboxMigration } from '../v2/migrations.ts';
import { renderUsedFormPage } from './error-page.ts';
import { formatUtcMinute } from './listing.ts';
import { renderMigrationDiagram } from './migration-diagram.ts';
import { renderSandboxMigrationProgress } from './migration-progress.ts';
import { renderPanelPage } from './panel-page.ts';
import { consumeFormCsrfToken, type PanelRequestHandler, type PanelSession } from './panel-session.ts';

/**
 * Shows the latest online migration of every cluster of the person and the person's teams, with a button that stops the
 * migration.
 */
export const renderMigrationsPanelPage: PanelRequestHandler = (_request, service, session) => {
  const content = html`<h1>Migrations</h1>
<p>Stopping a migration keeps the migrated data. A migration stops automatically after two weeks.</p>
${clustersOfPerson(service, session).map((cluster) => clusterEntry(cluster, service, session))}`;
  return renderPanelPage(200, { title: 'Migrations', content, signedInAs: session.person.name, isWide: true });
};

export const handleStopMigrationForm: PanelRequestHandler = (request, service, session) => {
  const id = new URLSearchParams(request.body).get('migration') ?? '';
  if (!consumeFormCsrfToken(request, session, service, stopFormId(id))) {
    return renderUsedFormPage('/panel/migrations');
  }
  const migration = clustersOfPerson(service, session)
    .map(({ uuid }) => findLatestSandboxMigrationOfCluster(service.world.state.migrationStore, uuid))
    .find((one) => one?.id === id);
  if (migration !== undefined) stopSandboxMigration(migration, service);
  return redirectReply(303, '/panel/migrations');
};

function clustersOfPerson({ world }: SandboxHandlerContext, { person }: PanelSession): readonly SandboxCluster[] {
  return [person.uuid, ...person.teams].flatMap(world.registry.clustersOf);
}

function clusterEntry(cluster: SandboxCluster, service: SandboxHandlerContext, session: PanelSession): HtmlMarkup {
  const migration = findLatestSandboxMigrationOfCluster(service.world.state.migrationStore, cluster.uuid);
  const engine = cluster.engine === 'postgresql' ? 'PostgreSQL' : 'Redis';
  const plane = service.planes.planeOf(cluster);
  const state = migration === undefined ? undefined : getCurrentSandboxMigrationState(migration, service);
  return html`<section class="application" id="cluster-${cluster.uuid}" aria-label="${cluster.name}">
<div>
<h2>${cluster.name}</h2>
<p class="soft">${engine} ${plane?.version ?? cluster.version}, ${cluster.uuid}</p>
${migration === undefined || state === undefined ? html`<p>No migration yet.</p>` : summary(migration, state, cluster, service)}
${plane === undefined ? html`<p class="soft">This cluster has no data plane: the migration has a status, but no rows are copied.</p>` : html`<p class="soft">Rows are copied to ${formatClusterDatabaseServerAddress(plane)}.</p>`}
${state?.live === undefined ? '' : renderSandboxMigrationProgress(state.live)}
</div>
${migration === undefined || state === undefined ? '' : stopButton(migration, state, cluster, service, session)}
</section>`;
}

function summary(
  migration: SandboxMigration,
  state: CurrentSandboxMigrationState,
  { name: target }: SandboxCluster,
  { world }: SandboxHandlerContext,
): HtmlMarkup {
  const { host, port, dbname } = migration.source;
  const source = `${host}${port === undefined ? '' : `:${port}`}${dbname === undefined ? '' : `/${dbname}`}`;
  const until = state.endedAt ?? world.now();
  const isStopping = state.reason === 'stopped_by_user' || state.reason === 'max_duration';
  const due = `stops automatically at ${formatUtcMinute(getSandboxMigrationDeadline(migration))}`;
  const end = isStatusUnderWay(state.status) ? (isStopping ? 'stopping' : due) : reasonOf(state);
  return html`${renderMigrationDiagram({ migration, source, target, status: state.status, until })}
<p>Started ${formatUtcMinute(migration.startedAt)}${end === '' ? '' : `, ${end}`}.</p>`;
}

function reasonOf({ status, reason, endedAt }: CurrentSandboxMigrationState): string {
  const at = endedAt === undefined ? '' : ` ${formatUtcMinute(endedAt)}`;
  if (status === 'done') return `finished${at}`;
  if (status === 'error') return reason === undefined ? `failed${at}` : `failed${at}: ${reason}`;
  return reason === 'max_duration' ? `stopped automatically after two weeks,${at}` : `stopped${at}`;
}

function stopButton(
  migration: SandboxMigration,
  state: CurrentSandboxMigrationState,
  cluster: SandboxCluster,
  { world }: SandboxHandlerContext,
  session: PanelSession,
): HtmlMarkup | string {
  if (!isStatusUnderWay(state.status)) return '';
  const csrf = world.issueCsrfToken(session.session, stopFormId(migration.id));
  return html`<form method="post" action="/panel/migrations/stop">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="migration" value="${migration.id}">
<button class="bad" type="submit" aria-label="Stop the migration into ${cluster.name}">Stop</button>
</form>`;
}

function stopFormId(id: string): string {
  return `stop ${id}`;
}
