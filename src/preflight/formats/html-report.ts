import { createHash } from 'node:crypto';
import type { Finding } from '../finding.ts';
import { renderFixScript, renderUndoScript } from '../render-fix-script.ts';
import type { DatabaseVerdict, PreflightReport } from '../report.ts';
import { htmlReportStyle } from './html-report-style.ts';
import {
  estimateRange,
  findingLocation,
  formatBytes,
  ignoreAdviceSentence,
  sortBySeverity,
  sourceLabel,
  statusLabel,
  verdictSentence,
} from './report-text.ts';

/** The report as one file without script or outside assets: verdict first, findings by severity, readable on paper. */
export function htmlReport(report: PreflightReport): string {
  const title = `Preflight of ${sourceLabel(report)}: ${report.verdict}`;
  const hash = createHash('sha256').update(htmlReportStyle).digest('base64');
  const worth = sortBySeverity(report.findings).filter(({ status }) => status !== 'pass' && status !== 'skip');
  const rest = sortBySeverity(report.findings).filter(({ status }) => status === 'pass' || status === 'skip');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<title>${h(title)}</title>
<style>${htmlReportStyle}</style>
</head>
<body>
<header class="verdict ${report.verdict}">
<h1>${h(verdictSentence(report))}</h1>
<p class="soft">Preflight of ${h(sourceLabel(report))}</p>
${facts(report)}
</header>
<main>
${databases(report)}
${worth.length === 0 ? '<h2>Findings</h2><p>Nothing to look at: every check passed.</p>' : `<h2>Findings</h2>${worth.map(entry).join('\n')}`}
${scriptPart('Fix script', 'Click selects all of it. Each section says who must run it and what follows.', renderFixScript(report))}
${scriptPart('Undo script', 'Restores what was observed, after the migration.', renderUndoScript(report))}
${rest.length === 0 ? '' : `<details><summary>${rest.length} checks without a finding</summary>${passed(rest)}</details>`}
</main>
<footer class="soft"><p>Judged ${h(report.started_at)} in ${(report.duration_ms / 1000).toFixed(1)} s with ${report.queries} read-only statements, from this machine: it proves our own way to the source, not the service's.</p></footer>
</body>
</html>
`;
}

function facts(report: PreflightReport): string {
  const { source, target } = report;
  const estimate = estimateRange(report);
  const rows: readonly (readonly [string, string | undefined])[] = [
    [
      'Server',
      source.server_version === undefined
        ? undefined
        : `${report.engine === 'redis' ? 'Redis' : 'PostgreSQL'} ${source.server_version}`,
    ],
    ['Method asked for', `${report.method}: ${report.ok ? 'possible' : 'not possible'}`],
    [
      'Target',
      target.version === undefined
        ? target.cluster_uuid
        : `version ${target.version}${target.cluster_uuid === undefined ? '' : `, ${target.cluster_uuid}`}`,
    ],
    ['Estimated duration', estimate],
    ['Advice', ignoreAdviceSentence(report)],
    ['Not carried over', report.data_loss.length === 0 ? undefined : report.data_loss.join('; ')],
    [
      'Findings',
      Object.entries(report.summary)
        .filter(([, count]) => count > 0)
        .map(([status, count]) => `${count} ${status}`)
        .join(', '),
    ],
  ];
  const shown = rows.filter(([, value]) => value !== undefined && value !== '');
  return `<dl class="facts">${shown.map(([name, value]) => `<dt>${h(name)}</dt><dd>${h(value ?? '')}</dd>`).join('')}</dl>`;
}

function databases(report: PreflightReport): string {
  if (report.databases.length === 0) return '';
  const rows = report.databases.map(
    ({ name, verdict, tables, size_bytes: size, reasons }) =>
      `<tr><td><code>${h(name)}</code></td><td>${verdict}</td><td class="n">${tables ?? ''}</td><td class="n">${size === undefined ? '' : formatBytes(size)}</td><td>${h(reasons.join(', '))}</td></tr>`,
  );
  return `<h2>Databases</h2>
${chart(report.databases)}
<table><thead><tr><th>Database</th><th>Verdict</th><th class="n">Tables</th><th class="n">Size</th><th>Because of</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** The largest databases as bars; the table below has all of them. */
function chart(all: readonly DatabaseVerdict[]): string {
  const sized = all.flatMap(({ name, size_bytes: size }) => (size === undefined ? [] : [{ name, size }]));
  const largest = sized.sort((a, b) => b.size - a.size).slice(0, 12);
  const most = largest[0]?.size ?? 0;
  if (largest.length < 2 || most === 0) return '';
  const bars = largest.map(({ name, size }) => {
    const width = Math.max(0.5, (size / most) * 100).toFixed(1);
    return `<span title="${h(name)}">${h(name)}</span><svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${h(name)}: ${formatBytes(size)}"><rect width="${width}" height="10" rx="1"/></svg><span>${formatBytes(size)}</span>`;
  });
  return `<div class="chart">${bars.join('')}</div>`;
}

function entry(finding: Finding): string {
  const { title, observed, required, detail, objects, fix, blocks, id } = finding;
  const paragraphs = [
    `Observed: <strong>${h(observed)}</strong>${required === undefined ? '' : `. Required: <strong>${h(required)}</strong>`}`,
    detail === undefined ? undefined : h(detail),
    objects === undefined || objects.length === 0
      ? undefined
      : objects.map((name) => `<code>${h(name)}</code>`).join(', '),
    fix === undefined
      ? undefined
      : `Cure: ${h(fix.text)}${fix.restart === true ? ' <strong>The server must be restarted.</strong>' : ''}`,
  ];
  const shown = paragraphs.filter((part) => part !== undefined).map((part) => `<p>${part}</p>`);
  const blocked = blocks.length === 0 ? '' : `, blocks ${blocks.join(' and ')}`;
  return `<section class="finding ${finding.status}"><h3><span class="tag">${h(statusLabel(finding))}</span>${h(title)}</h3><p class="soft"><code>${h(id)}</code>, ${h(findingLocation(finding))}${blocked}</p>${shown.join('')}</section>`;
}

function scriptPart(title: string, words: string, script: string | undefined): string {
  return script === undefined
    ? ''
    : `<h2>${title}</h2><p class="soft">${words}</p><pre tabindex="0">${h(script)}</pre>`;
}

function passed(findings: readonly Finding[]): string {
  const rows = findings.map(
    (finding) =>
      `<tr><td>${finding.status}</td><td><code>${h(finding.id)}</code></td><td>${h(findingLocation(finding))}</td><td>${h(finding.observed)}</td></tr>`,
  );
  return `<table><tbody>${rows.join('')}</tbody></table>`;
}

/** Text of the source (names, messages) is text here, whatever it looks like. */
function h(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
    .replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}
