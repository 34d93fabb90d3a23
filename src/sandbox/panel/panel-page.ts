import { html, raw } from 'hono/html';
import { type HtmlMarkup, htmlReply, type Reply } from '../http/reply.ts';
import { STYLE_SHEET, STYLE_SOURCE } from './style.ts';

export interface PageOptions {
  readonly title: string;
  readonly content: HtmlMarkup;
  /** The name of the signed-in person. If the name is set, the page has the navigation and a sign-out button. */
  readonly signedInAs?: string;
  readonly isWide?: boolean;
  /**
   * Whether a form on the page may redirect to another origin. Chromium applies the policy form-action to every redirect after
   * a form; because an application may redirect to any origin, the policy is then omitted.
   */
  readonly leavesOrigin?: boolean;
}

/** Renders a page without scripts that can be used with keyboard and screen reader. */
export function renderPage(status: number, options: PageOptions): Reply {
  const { title, content, signedInAs, isWide = false, leavesOrigin = false } = options;
  const markup = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>${title} · Cloud sandbox</title>
<style>${raw(STYLE_SHEET)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<strong>Cloud sandbox</strong>
${signedInAs === undefined ? '' : navigation(signedInAs, title)}
</header>
<main id="content"${isWide ? raw(' class="wide"') : ''}>
<div class="card">
${content}
</div>
</main>
</body>
</html>
`;
  return htmlReply(status, markup, { ...PAGE_HEADERS, 'content-security-policy': policy(leavesOrigin) });
}

function navigation(signedInAs: string, current: string): HtmlMarkup {
  const link = ([path, title]: readonly [string, string]): HtmlMarkup =>
    html`<a href="${path}"${title === current ? html` aria-current="page"` : ''}>${title}</a>`;
  return html`<nav aria-label="Control panel">${PAGES.map(link)}</nav>
<p>Signed in as ${signedInAs}</p>
<form method="post" action="/panel/sign-out"><button class="quiet" type="submit">Sign out</button></form>`;
}

function policy(leavesOrigin: boolean): string {
  return [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    'img-src data:',
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(leavesOrigin ? [] : ["form-action 'self'"]),
  ].join('; ');
}

const PAGES: readonly (readonly [path: string, title: string])[] = [
  ['/panel', 'Home'],
  ['/panel/applications', 'My applications'],
  ['/panel/tokens', 'Tokens'],
  ['/panel/droplets', 'Droplets'],
  ['/panel/migrations', 'Migrations'],
  ['/panel/requests', 'Request log'],
  ['/panel/timeline', 'Timeline of a login'],
  ['/panel/clock', 'Clock and faults'],
];

const PAGE_HEADERS = {
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** Responds to a form whose CSRF token is used or invalid, with a link to the page of the form. */
export function renderUsedForm(path: string): Reply {
  return renderError(403, 'This form was already used.', [], path);
}

/** Renders an error page with a message, the values involved, and a link to start again if `restartPath` is given. */
export function renderError(
  status: number,
  message: string,
  facts: readonly (readonly [name: string, value: string])[] = [],
  restartPath?: string,
): Reply {
  const content = html`<h1>The request cannot be processed</h1>
<p class="alert" role="alert">${message}</p>
${facts.length === 0 ? '' : html`<dl>${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`}
<p>${restartPath === undefined ? 'Go back to the application and start again.' : html`<a href="${restartPath}">Start again</a>.`} The <a href="/panel/requests">request log</a> of the <a href="/panel">control panel</a> lists the request.</p>`;
  return renderPage(status, { title: 'Error', content });
}
