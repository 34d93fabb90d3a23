import { html } from 'hono/html';
import type {
  DatabasePhase,
  DatabaseState,
  EngineState,
  Leftover,
  TableProgress,
  TransferMethod,
} from '../../db/engine/index.ts';
import { type HtmlMarkup, redirectReply } from '../http/reply.ts';
import { migrationDeadline } from '../migration-store.ts';
import { formatServerAddress } from '../ready-line.ts';
import type { Cluster, Migration } from '../records.ts';
import type { Service } from '../service.ts';
import { type CurrentState, currentState, isUnderWay, stopMigration } from '../v2/migrations.ts';
import { formatElapsedTime, formatUtcMinute, renderTable } from './listing.ts';
import { renderPage, renderUsedForm } from './panel-page.ts';
import { consumeFormToken, type PanelHandler, type PanelSession } from './panel-session.ts';

/**
 * Shows the latest online migration of every cluster of the person and the person's teams, with a button that stops the
 * migration.
 */
export const migrationsPage: PanelHandler = (_request, service, session) => {
  const content = html`<h1>Migrations</h1>
<p>Stopping a migration keeps the migrated data. A migration stops automatically after two weeks.</p>
${clustersOfPerson(service, session).map((cluster) => clusterEntry(cluster, service, session))}`;
  return renderPage(200, { title: 'Migrations', content, signedInAs: session.person.name, isWide: true });
};

export const submitStop: PanelHandler = (request, service, session) => {
  const id = new URLSearchParams(request.body).get('migration') ?? '';
  if (!consumeFormToken(request, session, service, stopFormId(id))) {
    return renderUsedForm('/panel/migrations');
  }
  const migration = clustersOfPerson(service, session)
    .map(({ uuid }) => service.world.migrations.latest(uuid))
    .find((one) => one?.id === id);
  if (migration !== undefined) stopMigration(migration, service);
  return redirectReply(303, '/panel/migrations');
};

function clustersOfPerson({ world }: Service, { person }: PanelSession): readonly Cluster[] {
  return [person.uuid, ...person.teams].flatMap(world.registry.clustersOf);
}

function clusterEntry(cluster: Cluster, service: Service, session: PanelSession): HtmlMarkup {
  const migration = service.world.migrations.latest(cluster.uuid);
  const plane = service.planes.planeOf(cluster);
  const engine = cluster.engine === 'postgresql' ? 'PostgreSQL' : plane?.isValkey === true ? 'Valkey' : 'Redis';
  const state = migration === undefined ? undefined : currentState(migration, service);
  return html`<section class="application" id="cluster-${cluster.uuid}" aria-label="${cluster.name}">
<div>
<h2>${cluster.name}</h2>
<p class="soft">${engine} ${plane?.version ?? cluster.version}, ${cluster.uuid}</p>
${migration === undefined || state === undefined ? html`<p>No migration yet.</p>` : summary(migration, state, cluster, service)}
${plane === undefined ? html`<p class="soft">This cluster has no data plane: the migration has a status, but no rows are copied.</p>` : html`<p class="soft">Rows are copied to ${formatServerAddress(plane)}.</p>`}
${state?.live === undefined ? '' : renderProgress(state.live)}
</div>
${migration === undefined || state === undefined ? '' : stopButton(migration, state, cluster, service, session)}
</section>`;
}

function summary(migration: Migration, state: CurrentState, { name: target }: Cluster, { world }: Service): HtmlMarkup {
  const { host, port, dbname } = migration.source;
  const source = `${host}${port === undefined ? '' : `:${port}`}${dbname === undefined ? '' : `/${dbname}`}`;
  const until = state.endedAt ?? world.now();
  const isStopping = state.reason === 'stopped_by_user' || state.reason === 'max_duration';
  const due = `stops automatically at ${formatUtcMinute(migrationDeadline(migration))}`;
  const end = isUnderWay(state.status) ? (isStopping ? 'stopping' : due) : reasonOf(state);
  return html`${renderDiagram({ migration, source, target, status: state.status, until })}
<p>Started ${formatUtcMinute(migration.startedAt)}${end === '' ? '' : `, ${end}`}.</p>`;
}

function reasonOf({ status, reason, endedAt }: CurrentState): string {
  const at = endedAt === undefined ? '' : ` ${formatUtcMinute(endedAt)}`;
  if (status === 'done') return `finished${at}`;
  if (status === 'error') return reason === undefined ? `failed${at}` : `failed${at}: ${reason}`;
  return reason === 'max_duration' ? `stopped automatically after two weeks,${at}` : `stopped${at}`;
}

function stopButton(
  migration: Migration,
  state: CurrentState,
  cluster: Cluster,
  { world }: Service,
  session: PanelSession,
): HtmlMarkup | string {
  if (!isUnderWay(state.status)) return '';
  const csrf = world.sessions.issueToken(session.session, stopFormId(migration.id));
  return html`<form method="post" action="/panel/migrations/stop">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="migration" value="${migration.id}">
<button class="bad" type="submit" aria-label="Stop the migration into ${cluster.name}">Stop</button>
</form>`;
}

function stopFormId(id: string): string {
  return `stop ${id}`;
}

/** Renders the state of every database and table, the warnings, and the objects that could not be removed. */
export function renderProgress({ databases, warnings, leftovers }: EngineState): HtmlMarkup {
  return html`${databases.map(renderDatabase)}
${list('Warnings', warnings)}
${leftovers.length === 0 ? '' : html`<p class="alert">Some objects could not be removed. Run these statements:</p>`}
${list('Statements to run', leftovers.map(describeLeftover))}`;
}

function renderDatabase({ name, phase, method, tables, lagBytes, reason, error, warnings }: DatabaseState): HtmlMarkup {
  const count = (...stages: readonly TableProgress['stage'][]): number =>
    tables.filter(({ stage }) => stages.includes(stage)).length;
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  const facts = [
    ...(tables.length === 0 ? ['no tables'] : [`${count('r')} of ${tables.length} tables ready`, `${rows} rows`]),
    ...(method === undefined ? [] : [method]),
    ...(lagBytes === undefined ? [] : [`${lagBytes} bytes behind`]),
  ];
  return html`<section class="database" aria-label="Database ${name}">
<h3>${name}</h3>
${renderPhases(phase, method)}
${
  tables.length === 0
    ? html`<p>${facts.join(', ')}</p>`
    : renderBar(facts.join(', '), [
        { kind: 'done', share: count('r') / tables.length },
        { kind: 'active', share: count('f', 's') / tables.length },
        { kind: 'early', share: count('d') / tables.length },
      ])
}
${(error ?? reason) === undefined ? '' : html`<p class="alert">${error ?? reason}</p>`}
${list(`Warnings about ${name}`, warnings)}
${tables.length === 0 ? '' : html`<details><summary>Tables of ${name}</summary>${renderTable(`Tables of ${name}`, TABLE_COLUMNS, tables.map(tableRow))}</details>`}
</section>`;
}

/**
 * The phases in their order, the current one marked. A phase that is not in this order, such as an unreachable source,
 * is shown alone.
 */
function renderPhases(phase: DatabasePhase, method: TransferMethod | undefined): HtmlMarkup {
  const phases = method === 'dump' ? DUMP_PHASES : PHASES;
  const now = phases.indexOf(phase);
  if (now === -1)
    return html`<p><span class="badge ${phase === 'stopped' ? '' : 'bad'}">${phase.replaceAll('_', ' ')}</span></p>`;
  const step = (one: string, at: number): HtmlMarkup =>
    at === now && phase !== 'done'
      ? html`<li class="now" aria-current="step">${one}</li>`
      : html`<li class="${at <= now ? 'past' : 'later'}">${one}</li>`;
  return html`<ol class="phases">${phases.map(step)}</ol>`;
}

function tableRow({ name, stage, rows }: TableProgress) {
  return [name, STAGES[stage], rows];
}

const PHASES: readonly DatabasePhase[] = [
  'waiting',
  'schema',
  'connecting',
  'copying',
  'streaming',
  'finishing',
  'done',
];
const DUMP_PHASES = PHASES.filter((phase) => phase !== 'connecting' && phase !== 'streaming');
const TABLE_COLUMNS = [
  { title: 'Table', kind: 'header' },
  { title: 'State' },
  { title: 'Rows', kind: 'number' },
] as const;

const STAGES: Readonly<Record<TableProgress['stage'], string>> = {
  i: 'waiting',
  d: 'copying',
  f: 'copied',
  s: 'catching up',
  r: 'ready',
};

function describeLeftover({ side, database: where, object, statement, reason }: Leftover): string {
  return `${object} on the ${side}${where === '' ? '' : `, database ${where}`}: ${statement} (${reason})`;
}

function list(label: string, lines: readonly string[]): HtmlMarkup | string {
  if (lines.length === 0) return '';
  return html`<ul class="plain" aria-label="${label}">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}

export interface DiagramOptions {
  readonly migration: Migration;
  /** `host:port/database` of the source. */
  readonly source: string;
  readonly target: string;
  readonly status: string;
  /** The end of the migration in milliseconds of the virtual clock; the present time while the migration runs. */
  readonly until: number;
}

/** Renders source, status and target in a row, and below the row how much of the time limit of two weeks has passed. */
export function renderDiagram({ migration, source, target, status, until }: DiagramOptions): HtmlMarkup {
  const elapsed = Math.max(0, until - migration.startedAt);
  const total = migrationDeadline(migration) - migration.startedAt;
  const kind = status === 'error' || status === 'canceled' ? 'bad' : 'good';
  return html`<div class="flow">
<p class="end"><span class="soft">Source</span> <strong>${source}</strong></p>
<p class="link"><span class="badge ${kind}">${status}</span></p>
<p class="end"><span class="soft">Target</span> <strong>${target}</strong></p>
</div>
${renderBar(`${formatElapsedTime(elapsed)} of two weeks`, [{ kind: 'done', share: elapsed / total }])}`;
}

export interface BarSegment {
  readonly kind: 'done' | 'active' | 'early';
  /** The part of the width of the bar, from 0 to 1. */
  readonly share: number;
}

/** A horizontal bar. The width that the parts do not fill stays empty. */
export function renderBar(label: string, parts: readonly BarSegment[]): HtmlMarkup {
  const widths = parts.map(({ share }) => Math.min(1, Math.max(0, share)) * 100);
  const rectangles = parts.map(({ kind }, at) => {
    const before = widths.slice(0, at).reduce((sum, width) => sum + width, 0);
    return html`<rect class="${kind}" x="${before.toFixed(2)}" width="${(widths[at] ?? 0).toFixed(2)}" height="8"/>`;
  });
  return html`<p class="bar"><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="empty" width="100" height="8"/>${rectangles}</svg> <span>${label}</span></p>`;
}
