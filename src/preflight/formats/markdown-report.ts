import type { Finding } from '../finding.ts';
import { renderFixScript } from '../render-fix-script.ts';
import type { PreflightReport } from '../report.ts';
import {
  estimateRange,
  findingLocation,
  formatBytes,
  ignoreAdviceSentence,
  replaceUnprintable,
  sortBySeverity,
  sourceLabel,
  statusLabel,
  verdictSentence,
} from './report-text.ts';

/** The report for a ticket or a wiki: verdict first, then what to look at, worst first. */
export function markdownReport(report: PreflightReport): string {
  const estimate = estimateRange(report);
  const advice = ignoreAdviceSentence(report);
  const worth = sortBySeverity(report.findings).filter(({ status }) => status !== 'pass' && status !== 'skip');
  const fix = renderFixScript(report);
  const parts = [
    `# Preflight: ${report.verdict}`,
    `**${verdictSentence(report)}**`,
    [
      `- Source: ${code(sourceLabel(report))}${report.source.server_version === undefined ? '' : `, ${report.engine} ${text(report.source.server_version)}`}`,
      `- Method asked for: ${report.method}, ${report.ok ? 'possible' : 'not possible'}`,
      ...(estimate === undefined ? [] : [`- Estimated duration: ${estimate}`]),
      ...(advice === undefined ? [] : [`- ${text(advice)}`]),
      ...report.data_loss.map((loss) => `- Not carried over: ${text(loss)}`),
      `- ${summary(report)}`,
    ].join('\n'),
    ...(report.databases.length === 0 ? [] : [`## Databases\n\n${databases(report)}`]),
    ...(worth.length === 0 ? [] : [`## Findings\n\n${worth.map(entry).join('\n\n')}`]),
    ...(fix === undefined ? [] : [`## Fix script\n\n${fenced(fix, report.engine === 'redis' ? 'sh' : 'sql')}`]),
    `Judged ${report.started_at} from this machine; it proves our own way to the source, not the service's.`,
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
    '| database | verdict | size | tables | because of |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
  ].join('\n');
}

function entry(finding: Finding): string {
  const { id, title, observed, required, detail, objects, fix } = finding;
  const lines = [
    `### ${id}: ${statusLabel(finding)} (${text(findingLocation(finding))})`,
    `${text(title)}. Observed: ${text(observed)}.${required === undefined ? '' : ` Required: ${text(required)}.`}`,
    ...(detail === undefined ? [] : [text(detail)]),
    ...(objects === undefined || objects.length === 0 ? [] : [objects.map(code).join(', ')]),
    ...(fix === undefined ? [] : [`Cure: ${text(fix.text)}${fix.restart === true ? ' A restart follows.' : ''}`]),
  ];
  return lines.join('\n\n');
}

/** A code span that any text fits into: more backticks around than it has inside. */
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
