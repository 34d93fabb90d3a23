import type { Finding } from '../finding.ts';
import { renderFixScript } from '../render-fix-script.ts';
import type { PreflightReport } from '../report.ts';
import { verdictAfterFixesSentence } from '../verdict-after-fixes.ts';
import {
  estimateRange,
  findingLocation,
  findingTitle,
  formatBytes,
  ignoreAdviceSentence,
  replaceUnprintable,
  scopeNote,
  sortBySeverity,
  sourceLabel,
  statusLabel,
  verdictSentence,
} from './report-text.ts';

/** The report for a ticket or a wiki: verdict first, then the findings that do not pass, by severity. */
export function markdownReport(report: PreflightReport): string {
  const estimate = estimateRange(report);
  const advice = ignoreAdviceSentence(report);
  const after = verdictAfterFixesSentence(report);
  const problems = sortBySeverity(report.findings).filter(({ status }) => status !== 'pass' && status !== 'skip');
  const fix = renderFixScript(report);
  const parts = [
    `# Preflight: ${report.verdict}`,
    `**${verdictSentence(report)}**`,
    [
      `- Source: ${code(sourceLabel(report))}${report.source.server_version === undefined ? '' : `, ${report.engine} ${text(report.source.server_version)}`}`,
      `- Requested method: ${report.method}, ${report.ok ? 'possible' : 'not possible'}`,
      ...(estimate === undefined ? [] : [`- Estimated duration: ${estimate}`]),
      ...(advice === undefined ? [] : [`- ${text(advice)}`]),
      ...report.data_loss.map((loss) => `- Not migrated: ${text(loss)}`),
      ...(after === undefined ? [] : [`- ${text(after)}`]),
      `- ${summary(report)}`,
    ].join('\n'),
    ...(report.databases.length === 0 ? [] : [`## Databases\n\n${databases(report)}`]),
    ...(problems.length === 0 ? [] : [`## Findings\n\n${problems.map(entry).join('\n\n')}`]),
    ...(fix === undefined ? [] : [`## Fix script\n\n${fenced(fix, report.engine === 'redis' ? 'sh' : 'sql')}`]),
    `Checked ${report.started_at}. ${scopeNote}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function summary(report: PreflightReport): string {
  return Object.entries(report.summary)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ');
}

function databases(report: PreflightReport): string {
  const rows = report.databases.map(({ name, verdict, size_bytes: size, tables, reasons }) =>
    [code(name), verdict, size === undefined ? '' : formatBytes(size), tables ?? '', reasons.join(', ')].join(' | '),
  );
  return [
    '| database | verdict | size | tables | blocked by |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

function entry(finding: Finding): string {
  const { id, observed, required, detail, objects, fix } = finding;
  const lines = [
    `### ${id}: ${statusLabel(finding)} (${text(findingLocation(finding))})`,
    `${text(findingTitle(finding))}. Observed: ${text(observed)}.${required === undefined ? '' : ` Required: ${text(required)}.`}`,
    ...(detail === undefined ? [] : [text(detail)]),
    ...(objects === undefined || objects.length === 0 ? [] : [objects.map(code).join(', ')]),
    ...(fix === undefined
      ? []
      : [`Fix: ${text(fix.text)}${fix.restart === true ? ' The server must be restarted.' : ''}`]),
  ];
  return lines.join('\n\n');
}

/** A code span for any text, with more backticks around it than inside. */
function code(value: string): string {
  const line = replaceUnprintable(value).replace(/[\n|]+/g, ' ');
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

function text(value: string): string {
  return replaceUnprintable(value)
    .replace(/\n+/g, ' ')
    .replace(/[\\*_[\]<>|#`]/g, '\\$&');
}

function fenced(body: string, language: string): string {
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${body}${fence}`;
}
