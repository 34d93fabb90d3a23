import { html } from 'hono/html';
import type {
  DatabaseMigrationState,
  LeftoverObject,
  MigrationState,
  TableProgress,
} from '../../engine/migration-state.ts';
import type { Markup } from '../http/http-reply.ts';
import { renderTable } from './listing.ts';

/** Every database with its tables, what should be known about them, and what could not be removed. */
export function renderMigrationProgress({ databases, warnings, leftovers }: MigrationState): Markup {
  return html`${databases.map(database)}
${list('What was left out', warnings)}
${leftovers.length === 0 ? '' : html`<p class="alert">Not everything could be removed. These statements do it:</p>`}
${list('To be removed', leftovers.map(leftover))}`;
}

function database({ name, phase, method, tables, lagBytes, error, warnings }: DatabaseMigrationState): Markup {
  const ready = tables.filter(({ stage }) => stage === 'r').length;
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  const facts = [
    phase,
    ...(method === undefined ? [] : [method]),
    `${ready} of ${tables.length} tables ready`,
    `${rows} rows`,
    ...(lagBytes === undefined ? [] : [`${lagBytes} bytes behind`]),
  ];
  return html`<details>
<summary><strong>${name}</strong>: ${facts.join(', ')}</summary>
${error === undefined ? '' : html`<p class="alert">${error}</p>`}
${list(`Notes on ${name}`, warnings)}
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

function leftover({ side, database: where, object, statement, reason }: LeftoverObject): string {
  return `${object} on the ${side}${where === '' ? '' : `, database ${where}`}: ${statement} (${reason})`;
}

function list(label: string, lines: readonly string[]): Markup | string {
  if (lines.length === 0) return '';
  return html`<ul class="plain" aria-label="${label}">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}
