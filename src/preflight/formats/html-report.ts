import { createHash } from 'node:crypto';
import { escapeHtml, escapeHtmlLines } from '../../sanitize/html-text.ts';
import type { Finding } from '../finding.ts';
import { renderFixScript, renderUndoScript } from '../render-fix-script.ts';
import type { DatabaseVerdict, PreflightReport } from '../report.ts';
import { verdictAfterFixesSentence } from '../verdict-after-fixes.ts';
import { htmlReportStyle } from './html-report-style.ts';
import {
  estimateRange,
  findingLocation,
  findingTitle,
  formatBytes,
  ignoreAdviceSentence,
  premiseLines,
  scopeNote,
  sortBySeverity,
  sourceLabel,
  statusLabel,
  verdictSentence,
} from './report-text.ts';

/** The report as one file without scripts or external resources: verdict first, findings by severity, readable on paper. */
export function htmlReport(report: PreflightReport): string {
  const title = `Preflight of ${sourceLabel(report)}: ${report.verdict}`;
  const hash = createHash('sha256').update(htmlReportStyle).digest('base64');
  const problems = sortBySeverity(report.findings).filter(({ status }) => status !== 'pass' && status !== 'skip');
  const rest = sortBySeverity(report.findings).filter(({ status }) => status === 'pass' || status === 'skip');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<title>${escapeHtml(title)}</title>
<style>${htmlReportStyle}</style>
</head>
<body>
<header class="verdict ${report.verdict}">
<h1>${escapeHtml(verdictSentence(report))}</h1>
<p class="soft">Preflight of ${escapeHtml(sourceLabel(report))}</p>
${facts(report)}
${premiseLines(report)
  .map((premise) => `<p>Open premise: ${escapeHtml(premise)}</p>`)
  .join('\n')}
</header>
<main>
${databases(report)}
${problems.length === 0 ? '<h2>Findings</h2><p>Every check passed.</p>' : `<h2>Findings</h2>${problems.map(entry).join('\n')}`}
${scriptPart('Fix script', 'A click selects the whole script. Each section states who must run it.', renderFixScript(report))}
${scriptPart('Undo script', 'Restores the values that were observed. Run it after the migration.', renderUndoScript(report))}
${rest.length === 0 ? '' : `<details><summary>${rest.length} checks passed or skipped</summary>${passed(rest)}</details>`}
</main>
<footer class="soft"><p>Checked ${escapeHtml(report.started_at)} in ${(report.duration_ms / 1000).toFixed(1)} s with ${report.queries} read-only statements. ${scopeNote}</p></footer>
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
    ['Requested method', `${report.method}: ${report.ok ? 'possible' : 'not possible'}`],
    [
      'Target',
      target.version === undefined
        ? target.cluster_uuid
        : `version ${target.version}${target.cluster_uuid === undefined ? '' : `, ${target.cluster_uuid}`}`,
    ],
    ['Estimated duration', estimate],
    ['Recommendation', ignoreAdviceSentence(report)],
    ['After the fixes', verdictAfterFixesSentence(report)],
    ['Not migrated', report.data_loss.length === 0 ? undefined : report.data_loss.join('; ')],
    [
      'Findings',
      Object.entries(report.summary)
        .filter(([, count]) => count > 0)
        .map(([status, count]) => `${count} ${status}`)
        .join(', '),
    ],
  ];
  const shown = rows.filter(([, value]) => value !== undefined && value !== '');
  return `<dl class="facts">${shown.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value ?? '')}</dd>`).join('')}</dl>`;
}

function databases(report: PreflightReport): string {
  if (report.databases.length === 0) return '';
  const rows = report.databases.map(
    ({ name, verdict, tables, size_bytes: size, reasons }) =>
      `<tr><td><code>${escapeHtml(name)}</code></td><td>${verdict}</td><td class="n">${tables ?? ''}</td><td class="n">${size === undefined ? '' : formatBytes(size)}</td><td>${escapeHtml(reasons.join(', '))}</td></tr>`,
  );
  return `<h2>Databases</h2>
${chart(report.databases)}
<table><thead><tr><th>Database</th><th>Verdict</th><th class="n">Tables</th><th class="n">Size</th><th>Blocked by</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** The largest databases as bars; the table below lists all. */
function chart(all: readonly DatabaseVerdict[]): string {
  const sized = all.flatMap(({ name, size_bytes: size }) => (size === undefined ? [] : [{ name, size }]));
  const largest = sized.sort((a, b) => b.size - a.size).slice(0, 12);
  const most = largest[0]?.size ?? 0;
  if (largest.length < 2 || most === 0) return '';
  const bars = largest.map(({ name, size }) => {
    const width = Math.max(0.5, (size / most) * 100).toFixed(1);
    return `<span title="${escapeHtml(name)}">${escapeHtml(name)}</span><svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label="${escapeHtml(name)}: ${formatBytes(size)}"><rect width="${width}" height="10" rx="1"/></svg><span>${formatBytes(size)}</span>`;
  });
  return `<div class="chart">${bars.join('')}</div>`;
}

function entry(finding: Finding): string {
  const { observed, required, detail, objects, fix, blocks, id } = finding;
  const paragraphs = [
    `Observed: <strong>${escapeHtml(observed)}</strong>${required === undefined ? '' : `. Required: <strong>${escapeHtml(required)}</strong>`}`,
    detail === undefined ? undefined : escapeHtml(detail),
    objects === undefined || objects.length === 0
      ? undefined
      : objects.map((name) => `<code>${escapeHtml(name)}</code>`).join(', '),
    fix === undefined
      ? undefined
      : `Fix: ${escapeHtml(fix.text)}${fix.restart === true ? ' <strong>The server must be restarted.</strong>' : ''}`,
  ];
  const shown = paragraphs.filter((part) => part !== undefined).map((part) => `<p>${part}</p>`);
  const blocked = blocks.length === 0 ? '' : `, blocks ${blocks.join(' and ')}`;
  return `<section class="finding ${finding.status}"><h3><span class="tag">${escapeHtml(statusLabel(finding))}</span>${escapeHtml(findingTitle(finding))}</h3><p class="soft"><code>${escapeHtml(id)}</code>, ${escapeHtml(findingLocation(finding))}${blocked}</p>${shown.join('')}</section>`;
}

function scriptPart(title: string, words: string, script: string | undefined): string {
  return script === undefined
    ? ''
    : `<h2>${title}</h2><p class="soft">${words}</p><pre tabindex="0">${escapeHtmlLines(script)}</pre>`;
}

function passed(findings: readonly Finding[]): string {
  const rows = findings.map(
    (finding) =>
      `<tr><td>${finding.status}</td><td><code>${escapeHtml(finding.id)}</code></td><td>${escapeHtml(findingLocation(finding))}</td><td>${escapeHtml(finding.observed)}</td></tr>`,
  );
  return `<table><tbody>${rows.join('')}</tbody></table>`;
}
