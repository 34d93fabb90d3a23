import { html } from 'hono/html';
import type { HtmlMarkup } from '../http/reply.ts';
import type { HttpRequest } from '../http/request.ts';
import type { World } from '../world.ts';

/** The number of rows on one page. */
export const ROWS_PER_PAGE = 50;

export interface PageWindow {
  readonly page: number;
  readonly last: number;
  /** The index of the first row on the page, counted from 0. */
  readonly start: number;
}

/** Selects the page of a list by `?page=`: the first page if the number is invalid, the last page if it is too large. */
export function computePageWindow(request: HttpRequest, total: number): PageWindow {
  const last = Math.max(1, Math.ceil(total / ROWS_PER_PAGE));
  const text = new URLSearchParams(request.query).get('page') ?? '';
  const page = /^\d{1,9}$/.test(text) ? Math.min(last, Math.max(1, Number(text))) : 1;
  return { page, last, start: (page - 1) * ROWS_PER_PAGE };
}

/** Renders links to the previous and the next page that keep the other parameters; empty if the list has a single page. */
export function renderPageLinks(request: HttpRequest, { page, last }: PageWindow, label: string): HtmlMarkup | string {
  if (last === 1) return '';
  const link = (number: number): string => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(number));
    return `${request.path}?${query}`;
  };
  return html`<nav class="pager" aria-label="Pages of ${label}">
${page > 1 ? html`<a rel="prev" href="${link(page - 1)}">Previous page</a>` : ''}
<span>Page ${page} of ${last}</span>
${page < last ? html`<a rel="next" href="${link(page + 1)}">Next page</a>` : ''}
</nav>`;
}

export interface TableColumn {
  readonly title: string;
  /** The content of the cells; `header`: the name of the row, shown as a row heading. */
  readonly kind?: 'header' | 'number' | 'code';
}

/**
 * A table that scrolls horizontally, also with the keyboard. On a narrow screen each row is a block with the titles before
 * the values; the roles keep it a table for screen readers there.
 */
export function renderTable(
  caption: string,
  columns: readonly TableColumn[],
  rows: readonly (readonly (HtmlMarkup | string | number)[])[],
): HtmlMarkup {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
<table role="table">
<caption class="visually-hidden">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(({ title }) => html`<th scope="col" role="columnheader">${title}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map((cells) => html`<tr role="row">${cells.map((value, at) => renderCell(value, columns[at]))}</tr>\n`)}
</tbody>
</table>
</div>`;
}

function renderCell(value: HtmlMarkup | string | number, column: TableColumn | undefined): HtmlMarkup {
  const title = column?.title ?? '';
  const kind = column?.kind ?? 'text';
  if (kind === 'header') return html`<th scope="row" role="rowheader" data-title="${title}"><span>${value}</span></th>`;
  return html`<td class="${value === '' ? `${kind} empty` : kind}" role="cell" data-title="${title}"><span>${value}</span></td>`;
}

/** Formats a time as `2026-03-01 12:00:00`, in UTC. */
export function formatUtcSecond(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}

/** Formats a time as `2026-03-01 12:00 UTC`. */
export function formatUtcMinute(milliseconds: number): string {
  return `${formatUtcSecond(milliseconds).slice(0, -3)} UTC`;
}

/** The name of an application; the client ID of an application that is no longer registered. */
export function applicationName(clientId: string, { registry }: World): string {
  return registry.application(clientId)?.name ?? clientId;
}

/** The account of a grant: the team, or the person's own account if the grant has no team. */
export function describeAccount(team: string | undefined, { registry }: World): string {
  return team === undefined ? 'your own account' : `the team ${registry.team(team)?.name ?? team}`;
}

/** `0.25 s`, `3 min 20 s`, `2 h 5 min`, `29 d 3 h`; without a second part that is zero. */
export function formatElapsedTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return hours === 0 ? `${days} d` : `${days} d ${hours} h`;
  if (hours > 0) return minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`;
  if (minutes > 0) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return `${(ms / 1000).toFixed(2)} s`;
}
