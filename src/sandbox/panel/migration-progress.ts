import { html } from 'hono/html';
import type {
  DatabaseMigrationState,
  LeftoverObject,
  MigrationState,
  TableProgress,
} from '../../engine/migration-state.ts';
import type { Markup } from '../http/http-reply.ts';
import { renderTable } from './listing.ts';

/** Renders the state of every database and table, the warnings, and the objects that could not be removed. */
export function renderMigrationProgress({ databases, warnings, leftovers }: MigrationState): Markup {
  return html`${databases.map(renderDatabase)}
${list('Warnings', warnings)}
${leftovers.length === 0 ? '' : html`<p class="alert">Some objects could not be removed. Run these statements:</p>`}
${list('Statements to run', leftovers.map(describeLeftover))}`;
}

function renderDatabase({
  name,
  phase,
  method,
  tables,
  lagBytes,
  reason,
  error,
  warnings,
}: DatabaseMigrationState): Markup {
  const ready = tables.filter(({ stage }) => stage === 'r').length;
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  const facts = [
    phase.replaceAll('_', ' '),
    ...(method === undefined ? [] : [method]),
    `${ready} of ${tables.length} tables ready`,
    `${rows} rows`,
    ...(lagBytes === undefined ? [] : [`${lagBytes} bytes behind`]),
  ];
  return html`<details>
<summary><strong>${name}</strong>: ${facts.join(', ')}</summary>
${(error ?? reason) === undefined ? '' : html`<p class="alert">${error ?? reason}</p>`}
${list(`Warnings about ${name}`, warnings)}
${tables.length === 0 ? '' : renderTable(`Tables of ${name}`, ['Table', 'State', 'Rows'], tables.map(tableRow))}
</details>`;
}

function tableRow({ name, stage, rows }: TableProgress): Markup {
  return html`<tr><th scope="row">${name}</th><td>${STAGES[stage]}</td><td class="number">${rows}</td></tr>`;
}

const STAGES: Readonly<Record<TableProgress['stage'], string>> = {
  i: 'waiting',
  d: 'copying',
  f: 'copied',
  s: 'catching up',
  r: 'ready',
};

function describeLeftover({ side, database: where, object, statement, reason }: LeftoverObject): string {
  return `${object} on the ${side}${where === '' ? '' : `, database ${where}`}: ${statement} (${reason})`;
}

function list(label: string, lines: readonly string[]): Markup | string {
  if (lines.length === 0) return '';
  return html`<ul class="plain" aria-label="${label}">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}
