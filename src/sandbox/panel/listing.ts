import { html } from 'hono/html';
import type { Markup } from '../http/http-reply.ts';
import type { HttpRequest } from '../http/http-request.ts';

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
export function renderPageLinks(request: HttpRequest, { page, last }: PageWindow, label: string): Markup | string {
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

/** Renders a table that can be scrolled horizontally on a narrow screen, also with the keyboard. */
export function renderTable(caption: string, heads: readonly string[], rows: readonly Markup[]): Markup {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
<table>
<caption class="visually-hidden">${caption}</caption>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows}
</tbody>
</table>
</div>`;
}

/** Formats a time as `2026-03-01 12:00:00` in UTC. */
export function formatUtcSecond(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ');
}
