import { createHash } from 'node:crypto';
import { redactMessage } from '../../base/redact.ts';
import { escapeHtml, sanitizeLine } from '../../base/sanitize.ts';

/** An HTML page and its Content-Security-Policy, which allows the style and the script of the page by their hashes. */
export interface LoopbackHtmlPage {
  readonly status: number;
  readonly html: string;
  readonly policy: string;
}

export interface LoopbackHtmlPageOptions {
  readonly status: number;
  readonly title: string;
  readonly icon: LoopbackPageIcon;
  /** The HTML of the page body; text from other sources must be escaped with `escapeLoopbackPageText`. */
  readonly body: string;
  /** The script of the page and the data attributes of its body element; only the bridge page has them. */
  readonly script?: string;
  readonly data?: Readonly<Record<string, string>>;
}

export type LoopbackPageIcon = 'done' | 'stopped' | 'notice' | 'waiting';

/** Renders a static HTML page without external files, for light and dark mode. */
export function renderLoopbackHtmlPage(parts: LoopbackHtmlPageOptions): LoopbackHtmlPage {
  const data = Object.entries(parts.data ?? {}).map(
    ([name, value]) => ` data-${name}="${escapeLoopbackPageText(value)}"`,
  );
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
<title>${escapeLoopbackPageText(parts.title)} · cloudctl</title>
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
export function escapeLoopbackPageText(text: string): string {
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

const icons: Readonly<Record<LoopbackPageIcon, string>> = {
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
