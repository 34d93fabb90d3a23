import { createHash } from 'node:crypto';
import { escapeHtml, escapeHtmlLines } from '../../../base/sanitize.ts';
import { formatBytes } from '../../../base/text.ts';

interface Page {
  readonly title: string;
  /** Selects the colour of the header: of a verdict. */
  readonly kind: 'continuous' | 'dump' | 'scan' | 'blocked';
  /** HTML; empty parts of `main` are left out. */
  readonly header: readonly string[];
  readonly main: readonly string[];
  readonly footer?: string;
  /** CSS besides that of every page. */
  readonly style?: string;
}

/** An HTML file without scripts or external resources, which can be printed. */
export function pageOf({ title, kind, header, main, footer, style = '' }: Page): string {
  const css = `${pageStyle}${style}`;
  const hash = createHash('sha256').update(css).digest('base64');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<title>${escapeHtml(title)}</title>
<style>${css}</style>
</head>
<body>
<header class="verdict ${kind}">
${header.join('\n')}
</header>
<main>
${main.filter((part) => part !== '').join('\n')}
</main>
${footer === undefined ? '' : `<footer class="soft"><p>${footer}</p></footer>\n`}</body>
</html>
`;
}

/**
 * A table; cells are HTML. A title that begins with `#` is that of a column of numbers. In a table of the kind `stack` each row
 * is a block on a narrow screen.
 */
export function tableOf(titles: readonly string[], rows: readonly (readonly string[])[], kind = ''): string {
  const names = titles.map((title) => title.replace('#', ''));
  // A row that is displayed as a block has no role of its own.
  const role = (name: string): string => (kind === 'stack' ? ` role="${name}"` : '');
  const classOf = (at: number): string => (titles[at]?.startsWith('#') === true ? ' class="n"' : '');
  const head = names.map((name, at) => `<th scope="col"${role('columnheader')}${classOf(at)}>${name}</th>`);
  const cellOf = (cell: string, at: number): string =>
    kind === 'stack'
      ? `<td role="cell" data-title="${names[at]}"${classOf(at)}><span>${cell}</span></td>`
      : `<td${classOf(at)}>${cell}</td>`;
  const body = rows.map((cells) => `<tr${role('row')}>${cells.map(cellOf).join('')}</tr>`);
  const classes = kind === '' ? '' : ` class="${kind}"`;
  return `<div class="scroll"><table${classes}${role('table')}><thead${role('rowgroup')}><tr${role('row')}>${head.join('')}</tr></thead><tbody${role('rowgroup')}>${body.join('')}</tbody></table></div>`;
}

/** Terms with their values, which are HTML. */
export function factsOf(facts: readonly (readonly [name: string, value: string | undefined])[], kind = ''): string {
  const rows = facts.flatMap(([name, value]) => (value === undefined ? [] : [`<dt>${name}</dt><dd>${value}</dd>`]));
  return `<dl${kind === '' ? '' : ` class="${kind}"`}>${rows.join('')}</dl>`;
}

/** A box; empty without content, which is HTML. */
export function cardOf(title: string, content: string): string {
  return content === '' ? '' : `<section class="card"><h2>${escapeHtml(title)}</h2>${content}</section>`;
}

/** Items of HTML; empty without items. */
export function listOf(items: readonly string[]): string {
  return items.length === 0 ? '' : `<ul>${items.map((one) => `<li>${one}</li>`).join('')}</ul>`;
}

interface Fold {
  readonly id?: string;
  /** A word on the amount of the content. */
  readonly note?: string;
  readonly isOpen?: boolean;
}

/** A part that a click opens; title and content are HTML. */
export function foldOf(title: string, content: string, { id, note, isOpen = false }: Fold = {}): string {
  const attributes = `${id === undefined ? '' : ` id="${id}"`}${isOpen ? ' open' : ''}`;
  const amount = note === undefined ? '' : ` <span class="soft">${note}</span>`;
  return `<details${attributes}><summary>${title}${amount}</summary>${content}</details>`;
}

/** A sentence in which commands are set in backticks. */
export function proseOf(text: string): string {
  return escapeHtml(text).replace(/`([^`<>]+)`/g, '<code>$1</code>');
}

export function codesOf(texts: readonly string[]): string {
  return texts.map((text) => `<code>${escapeHtml(text)}</code>`).join(', ');
}

/** Lines to read and to copy; empty without lines. */
export function preOf(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `<pre tabindex="0">${escapeHtmlLines(lines.join('\n'))}</pre>`;
}

/** Bars of the largest sizes, if sizes differ. */
export function barsOf(all: readonly { readonly name: string; readonly size: number }[], most: number): string {
  const largest = all.toSorted((a, b) => b.size - a.size).slice(0, most);
  const [top, last] = [largest[0]?.size ?? 0, largest.at(-1)?.size ?? 0];
  if (largest.length < 2 || top < 2 * last) return '';
  const bars = largest.map(({ name, size }) => {
    const width = Math.max(0.5, (size / top) * 100).toFixed(1);
    const text = escapeHtml(name);
    return `<span title="${text}">${text}</span><svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${text}: ${formatBytes(size)}"><rect width="${width}" height="10" rx="1"/></svg><span>${formatBytes(size)}</span>`;
  });
  return `<div class="chart">${bars.join('')}</div>`;
}

/** CSS for light and dark mode, narrow and wide windows, and print. */
export const pageStyle = `
:root{color-scheme:light dark;--ink:#1a1f26;--soft:#5a6472;--paper:#f4f5f7;--card:#fff;--code:#f3f4f6;--line:#dfe3e8;--good:#137a43;--bad:#b3261e;--warn:#8f5400;--open:#6941a5;--bar:#3b6fd4;--link:#1f57b8}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#9da7b3;--paper:#101317;--card:#181c21;--code:#101317;--line:#2f363f;--good:#4cc38a;--bad:#ff8a7e;--warn:#f0b04d;--open:#b79cf0;--bar:#7aa2f7;--link:#8fb4ff}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:66rem;padding:2rem 1.25rem 4rem;font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.65rem;line-height:1.25;margin:.4rem 0 .35rem;text-wrap:balance}h2{font-size:1.2rem;margin:2.25rem 0 .75rem}h3{font-size:1.05rem;line-height:1.4;margin:0}h4{font-size:.98rem;margin:1.5rem 0 0}
p{margin:.5rem 0 0}a{color:var(--link);text-underline-offset:.15em}
code,pre{font:.86em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}code{overflow-wrap:anywhere}td code{overflow-wrap:break-word}
.soft,.meta{color:var(--soft)}.meta{font-size:.9rem;margin:.15rem 0 0}
.verdict{border:1px solid var(--line);border-top:.4rem solid var(--edge);background:var(--card);padding:1.25rem 1.5rem;border-radius:.6rem}
.verdict p{margin:0;overflow-wrap:anywhere}
.continuous{--edge:var(--good)}.dump,.scan{--edge:var(--warn)}.blocked{--edge:var(--bad)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:1rem;margin-top:1rem}
.card{border:1px solid var(--line);background:var(--card);border-radius:.6rem;padding:1rem 1.25rem;min-width:0}
.card h2{font-size:.8rem;letter-spacing:.05em;text-transform:uppercase;color:var(--soft);margin:0 0 .5rem}
.card ul{margin:0;padding-left:1.1rem}.card li{margin:.25rem 0;overflow-wrap:anywhere}
.amount{font-size:1.15rem;font-weight:600;margin:0}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem 1rem;margin:.5rem 0 0}dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:.94rem}th,td{text-align:left;padding:.4rem .75rem .4rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:break-word}th{font-weight:600;color:var(--soft)}td.n,th.n{padding-right:2rem;text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
.finding{border:1px solid var(--line);border-left:.35rem solid var(--edge);background:var(--card);border-radius:.6rem;padding:1rem 1.25rem;margin:.75rem 0;break-inside:avoid;scroll-margin-top:1rem;min-width:0}
.finding:target{outline:2px solid var(--edge)}
.finding p{overflow-wrap:anywhere}
.fail{--edge:var(--bad)}.unknown{--edge:var(--open)}.warn{--edge:var(--warn)}.info,.skip{--edge:var(--line)}.pass{--edge:var(--good)}
.tag{display:inline-block;font-size:.78rem;line-height:1.5;font-weight:600;padding:0 .55rem;border-radius:1rem;border:1px solid var(--edge);color:var(--edge);margin-right:.5rem;vertical-align:.1em}
pre{background:var(--code);border:1px solid var(--line);border-radius:.4rem;padding:.75rem 1rem;margin:.6rem 0 0;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;user-select:all}
.chart{display:grid;grid-template-columns:minmax(5rem,14rem) 1fr max-content;gap:.3rem .75rem;align-items:center;margin-bottom:1.25rem}.chart span{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.chart svg{width:100%;height:1rem;display:block}.chart rect{fill:var(--bar)}
summary{cursor:pointer}main>details{border-top:1px solid var(--line);padding:.75rem 0}main>details>summary{font-weight:600}main>details:first-of-type{margin-top:2rem}.scroll+details{margin-top:0!important;border:0}
footer{border-top:1px solid var(--line);font-size:.9rem}
@media screen and (max-width:34rem){table.stack,.stack tbody,.stack tr,.stack td{display:block}.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}.stack tr{border-bottom:1px solid var(--line);padding:.5rem 0}.stack td{display:grid;grid-template-columns:6rem 1fr;gap:.75rem;border:0;padding:.1rem 0;text-align:left}.stack td:before{content:attr(data-title);color:var(--soft)}.stack span{overflow-wrap:anywhere}}
@media (max-width:34rem){body{padding:1rem .75rem 2rem}h1{font-size:1.3rem}.verdict,.card,.finding{padding:.85rem 1rem}.values{grid-template-columns:1fr;gap:0}.values dd{margin-bottom:.35rem}.chart{grid-template-columns:6rem 1fr max-content}}
@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--card:#fff;--code:#fff;--line:#999;--good:#060;--bad:#900;--warn:#740;--open:#407;--bar:#555;--link:#000}body{max-width:none;padding:0;font-size:10.5pt}.cards{display:block}.card{margin-top:.6rem;break-inside:avoid}h2{break-after:avoid}a{text-decoration:none}tr{break-inside:avoid}.finding details::details-content{content-visibility:visible;display:block;height:auto}}
`.trim();
