import { html } from 'hono/html';
import type { HttpReply } from '../http/http-reply.ts';
import { renderPanelPage } from './panel-page.ts';

/** Tells the person what went wrong, with the values that matter, and where to begin again if that helps. */
export function renderErrorPage(
  status: number,
  sentence: string,
  facts: readonly (readonly [name: string, value: string])[] = [],
  again?: string,
): HttpReply {
  const content = html`<h1>Something is wrong with this request</h1>
<p class="alert" role="alert">${sentence}</p>
${facts.length === 0 ? '' : html`<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`}
<p>${again === undefined ? 'Go back to where you came from and begin again there.' : html`<a href="${again}">Begin again</a>.`} What was asked is in the <a href="/panel/requests">request log</a> of the <a href="/panel">control panel</a>.</p>`;
  return renderPanelPage(status, { title: 'Error', content });
}
