import { html } from 'hono/html';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import { renderPanelPage } from './panel-page.ts';

/** Responds to a form whose CSRF token is used or invalid, with a link to the page of the form. */
export function renderUsedFormPage(path: string): SandboxHttpReply {
  return renderErrorPage(403, 'This form was already used.', [], path);
}

/** Renders an error page with a message, the values involved, and a link to start again if `restartPath` is given. */
export function renderErrorPage(
  status: number,
  message: string,
  facts: readonly (readonly [name: string, value: string])[] = [],
  restartPath?: string,
): SandboxHttpReply {
  const content = html`<h1>The request cannot be processed</h1>
<p class="alert" role="alert">${message}</p>
${facts.length === 0 ? '' : html`<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`}
<p>${restartPath === undefined ? 'Go back to the application and start again.' : html`<a href="${restartPath}">Start again</a>.`} The <a href="/panel/requests">request log</a> of the <a href="/panel">control panel</a> lists the request.</p>`;
  return renderPanelPage(status, { title: 'Error', content });
}
