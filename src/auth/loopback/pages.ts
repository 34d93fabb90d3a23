import { createHash } from 'node:crypto';
import { redactMessage } from '../../base/redact.ts';
import { escapeHtml, sanitizeLine } from '../../base/sanitize.ts';
import type { RefusalReason } from './decide.ts';

/** An HTML page and its Content-Security-Policy, which allows the style and the script of the page by their hashes. */
export interface Page {
  readonly status: number;
  readonly html: string;
  readonly policy: string;
}

/** The outcome of a login, which the page in the browser tab shows. The text of the outcome may come from the server. */
export type LoginOutcome =
  /** Name, email address and team of the account, as far as known; the implicit flow provides none of them. */
  | {
      readonly kind: 'signed_in';
      readonly name?: string | undefined;
      readonly email?: string | undefined;
      readonly team?: string | undefined;
    }
  | { readonly kind: 'access_denied' }
  | { readonly kind: 'state_mismatch' }
  /** The reason is one sentence of this program without the full stop. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** The login is not finished and continues in the terminal. */
  | { readonly kind: 'unfinished' };

/** What the browser tab receives: the page with the outcome, or a redirect to the URL at which the login continues. */
export type TabAnswer = LoginOutcome | { readonly kind: 'continue'; readonly url: string };

/** The last page in the browser tab, which shows the outcome of the login. */
export function outcomePage(outcome: LoginOutcome): Page {
  switch (outcome.kind) {
    case 'signed_in':
      return renderPage({ status: 200, icon: 'done', ...signedInPage(outcome) });
    case 'access_denied':
      return textPage(
        'stopped',
        200,
        'Access was denied',
        'The authorization was denied. Nothing was changed or stored.',
      );
    case 'state_mismatch':
      return textPage(
        'stopped',
        200,
        'This response belongs to another login',
        'The state of the response is missing or different, so the response was not used and you are not signed in. Start the login again in the terminal.',
      );
    case 'failed':
      return textPage('stopped', 200, 'You are not signed in', `${outcome.reason}.`);
    case 'unfinished':
      return textPage(
        'waiting',
        200,
        'Continue in the terminal',
        'The login is not finished. The terminal shows what to do next.',
      );
    default:
      return outcome satisfies never;
  }
}

/**
 * The page for a refused request, which has no effect on the login. A request that comes too late learns how the login ended,
 * with `outcome`, but not whose it is: another program may have sent it.
 */
export function refusalPage(reason: RefusalReason, outcome?: TabAnswer): Page {
  const [status, title, text] = refusals[reason];
  const ending = reason === 'already_finished' && outcome !== undefined ? endings[outcome.kind] : undefined;
  return ending === undefined
    ? textPage('notice', status, title, text, false)
    : textPage(ending[0], status, ending[1], ending[2], true);
}

export const refusals: Readonly<Record<RefusalReason, readonly [status: number, title: string, text: string]>> = {
  not_a_response: [
    400,
    'Not an authorization response',
    'The request is not an authorization response. A waiting login is not affected.',
  ],
  forbidden: [403, 'Request refused', 'The request did not come from the login page.'],
  not_found: [404, 'Page not found', 'This server only receives the redirect of a login.'],
  method_not_allowed: [405, 'Method not allowed', 'This URL does not support the method of the request.'],
  request_timeout: [408, 'Request timeout', 'The request was not received in time.'],
  already_finished: [
    410,
    'This login is in progress',
    'It has received its response. The terminal shows how it ends. You can close this tab.',
  ],
  already_started: [
    410,
    'This link works only once',
    'It was opened twice, so the login has ended. Start it again in the terminal.',
  ],
  body_too_large: [413, 'Request too large', 'The request is larger than an authorization response.'],
  expectation_failed: [417, 'Expectation failed', 'This server does not support the Expect header.'],
  misdirected: [421, 'Wrong host name', 'This server does not serve the requested host name.'],
  headers_too_large: [431, 'Headers too large', 'The headers of the request are too large.'],
};

const failure = ['stopped', 'This login has failed', 'The terminal shows the error.'] as const;

/** What a request that comes too late is told; an outcome without a row is not the last word. */
const endings: Readonly<Partial<Record<TabAnswer['kind'], readonly [Icon, title: string, text: string]>>> = {
  signed_in: ['done', 'This login is complete', 'It received its response before. You are signed in.'],
  access_denied: failure,
  state_mismatch: failure,
  failed: failure,
};

function signedInPage({
  name: ownName,
  email: ownEmail,
  team: ownTeam,
}: Extract<LoginOutcome, { kind: 'signed_in' }>): {
  readonly title: string;
  readonly body: string;
} {
  const [name = '', email = '', team = ''] = [ownName, ownEmail, ownTeam].map((text) => escapeText(text ?? ''));
  const heading = name || email;
  const lines = [
    `<h1>${heading === '' ? 'You are signed in' : `You are signed in as ${heading}`}</h1>`,
    ...(name !== '' && email !== '' ? [`<p class="who">${email}</p>`] : []),
    ...(team === '' ? [] : [`<p class="who">Team ${team}</p>`]),
    '<p class="close">You can close this tab.</p>',
  ];
  return { title: 'Signed in', body: lines.join('\n') };
}

function textPage(mark: Icon, status: number, title: string, text: string, closable = mark === 'stopped'): Page {
  const close = closable ? '\n<p class="close">You can close this tab.</p>' : '';
  return renderPage({
    status,
    icon: mark,
    title,
    body: `<h1>${escapeText(title)}</h1>\n<p>${escapeText(text)}</p>${close}`,
  });
}

/**
 * The bridge page of the implicit flow. A browser does not send the fragment to a server (RFC 6749 §4.2.2), so the script of
 * this page reads it, removes it from the history of the tab and posts it to the relay. The script never writes the fragment
 * into the page.
 */
export function bridgePage(relayPath: string, nonce: string): Page {
  return renderPage({
    status: 200,
    title: 'Signing in',
    icon: 'waiting',
    script,
    data: { relay: relayPath, nonce },
    body: `<div id="working"><h1>Signing you in</h1>
<p>One moment.</p></div>
<div id="empty" hidden><h1>No authorization response</h1>
<p>This URL contains no response of the authorization server. Start again in the terminal.</p></div>
<div id="failed" hidden><h1>The response was not accepted</h1>
<p>The terminal shows the state of the login. Start again there.</p></div>
<noscript><p>This page needs JavaScript. Without it, copy the complete URL of this page into the terminal.</p></noscript>`,
  });
}

const script = `
'use strict';
(() => {
  const hash = location.hash.slice(1);
  const issuer = /[?&](iss=[^&]+)$/.exec(location.search);
  const isComplete = hash === '' || issuer === null || new URLSearchParams(hash).has('iss');
  const fragment = isComplete ? hash : hash + '&' + issuer[1];
  history.replaceState(null, '', location.pathname + location.search);
  const show = (id) => {
    for (const part of ['working', 'empty', 'failed']) document.getElementById(part).hidden = part !== id;
  };
  if (fragment === '') return show('empty');
  const { relay, nonce } = document.body.dataset;
  fetch(relay, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ nonce, fragment }),
    credentials: 'omit',
    redirect: 'error',
  })
    .then((answer) => (answer.ok ? answer.json() : Promise.reject(answer.status)))
    .then(({ next }) => location.replace(next))
    .catch(() => show('failed'));
})();
`;

interface PageParts {
  readonly status: number;
  readonly title: string;
  readonly icon: Icon;
  /** The HTML of the page body; text from other sources must be escaped with `escapeText`. */
  readonly body: string;
  /** The script of the page and the data attributes of its body element; only the bridge page has them. */
  readonly script?: string;
  readonly data?: Readonly<Record<string, string>>;
}

type Icon = 'done' | 'stopped' | 'notice' | 'waiting';

/** Renders a static HTML page without external files, for light and dark mode. */
function renderPage(parts: PageParts): Page {
  const data = Object.entries(parts.data ?? {}).map(([name, value]) => ` data-${name}="${escapeText(value)}"`);
  const script = parts.script === undefined ? '' : `<script>${parts.script}</script>\n`;
  return {
    status: parts.status,
    policy: policyOf(parts.script),
    html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeText(parts.title)} · cloudctl</title>
<style>${style}</style>
</head>
<body${data.join('')}>
<main class="${parts.icon}">
<svg viewBox="0 0 48 48" width="48" height="48" aria-hidden="true" focusable="false">${icons[parts.icon]}</svg>
<div role="status">
${parts.body}
</div>
</main>
<footer>cloudctl</footer>
${script}</body>
</html>
`,
  };
}

/** Escapes one line of external text for the page and cuts it at 300 characters. */
export function escapeText(text: string): string {
  return escapeHtml(redactMessage(sanitizeLine(text)));
}

function policyOf(script: string | undefined): string {
  const bridge = script === undefined ? [] : [`script-src ${hash(script)}`, "connect-src 'self'"];
  return [
    "default-src 'none'",
    `style-src ${hash(style)}`,
    ...bridge,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

const icons: Readonly<Record<Icon, string>> = {
  done: '<circle cx="24" cy="24" r="22"/><path d="M15 24.5l6.5 6.5L33.5 18"/>',
  stopped: '<circle cx="24" cy="24" r="22"/><path d="M17.5 17.5l13 13M30.5 17.5l-13 13"/>',
  waiting: '<circle cx="24" cy="24" r="22"/><path d="M15 24v.5M24 24v.5M33 24v.5"/>',
  notice: '<circle cx="24" cy="24" r="22"/><path d="M24 14v13M24 33.5v.5"/>',
};

const style = `
:root {
  color-scheme: light dark;
  --ground: #f4f6f9; --sheet: #ffffff; --line: #e1e6ee; --text: #16202e; --quiet: #5a6779;
  --done: #12805c; --stopped: #b93a32; --calm: #2f6bd8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1218; --sheet: #161c25; --line: #273140; --text: #e8edf4; --quiet: #9aa7b8;
    --done: #4cc79a; --stopped: #f08a80; --calm: #83adff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; padding: 1.5rem;
  display: flex; flex-direction: column; align-items: center; justify-content: center; gap: 1.5rem;
  background: var(--ground); color: var(--text);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main {
  width: 100%; max-width: 30rem; padding: 2.75rem 2.5rem 2.5rem;
  background: var(--sheet); border: 1px solid var(--line); border-radius: 1rem;
  box-shadow: 0 1px 2px rgb(15 23 42 / .04), 0 12px 32px rgb(15 23 42 / .06);
  text-align: center; overflow-wrap: anywhere;
}
svg { display: block; margin: 0 auto 1.5rem; fill: none; stroke-width: 2.5; stroke-linecap: round; stroke-linejoin: round; }
.done svg { stroke: var(--done); }
.stopped svg { stroke: var(--stopped); }
.notice svg, .waiting svg { stroke: var(--calm); }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.35; font-weight: 600; text-wrap: balance; }
p { margin: .5rem 0 0; color: var(--quiet); text-wrap: pretty; }
p.who { margin: 0; color: var(--text); }
p.close { margin-top: 1.5rem; }
footer { color: var(--quiet); font-size: .875rem; letter-spacing: .02em; }
[hidden] { display: none; }
`;
