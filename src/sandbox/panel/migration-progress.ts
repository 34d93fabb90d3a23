import { html } from 'hono/html';
import type {
  DatabasePhase,
  DatabaseState,
  EngineState,
  Leftover,
  TableProgress,
  TransferMethod,
} from '../../db/engine/index.ts';
import type { HtmlMarkup } from '../http/http-reply.ts';
import { renderPanelTable } from './listing.ts';
import { renderHtmlHorizontalBar } from './migration-diagram.ts';

/** Renders the state of every database and table, the warnings, and the objects that could not be removed. */
export function renderSandboxMigrationProgress({ databases, warnings, leftovers }: EngineState): HtmlMarkup {
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
    : renderHtmlHorizontalBar(facts.join(', '), [
        { kind: 'done', share: count('r') / tables.length },
        { kind: 'active', share: count('f', 's') / tables.length },
        { kind: 'early', share: count('d') / tables.length },
      ])
}
${(error ?? reason) === undefined ? '' : html`<p class="alert">${error ?? reason}</p>`}
${list(`Warnings about ${name}`, warnings)}
${tables.length === 0 ? '' : html`<details><summary>Tables of ${name}</summary>${renderPanelTable(`Tables of ${name}`, TABLE_COLUMNS, tables.map(tableRow))}</details>`}
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
