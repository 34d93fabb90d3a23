import { escapeMarkdown, markdownCode, markdownCodeBlock, markdownCodeCell } from '../../sanitize/markdown-text.ts';
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
  premiseLines,
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
    `**${escapeMarkdown(verdictSentence(report))}**`,
    [
      `- Source: ${markdownCode(sourceLabel(report))}${report.source.server_version === undefined ? '' : `, ${report.engine} ${escapeMarkdown(report.source.server_version)}`}`,
      `- Requested method: ${report.method}, ${report.ok ? 'possible' : 'not possible'}`,
      ...(estimate === undefined ? [] : [`- Estimated duration: ${estimate}`]),
      ...(advice === undefined ? [] : [`- ${escapeMarkdown(advice)}`]),
      ...report.data_loss.map((loss) => `- Not migrated: ${escapeMarkdown(loss)}`),
      ...(after === undefined ? [] : [`- ${escapeMarkdown(after)}`]),
      ...premiseLines(report).map((premise) => `- Open premise: ${escapeMarkdown(premise)}`),
      `- ${summary(report)}`,
    ].join('\n'),
    ...(report.databases.length === 0 ? [] : [`## Databases\n\n${databases(report)}`]),
    ...(problems.length === 0 ? [] : [`## Findings\n\n${problems.map(entry).join('\n\n')}`]),
    ...(fix === undefined
      ? []
      : [`## Fix script\n\n${markdownCodeBlock(fix, report.engine === 'redis' ? 'sh' : 'sql')}`]),
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
    [
      markdownCodeCell(name),
      verdict,
      size === undefined ? '' : formatBytes(size),
      tables ?? '',
      reasons.join(', '),
    ].join(' | '),
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
    `### ${id}: ${statusLabel(finding)} (${escapeMarkdown(findingLocation(finding))})`,
    `${escapeMarkdown(findingTitle(finding))}. Observed: ${escapeMarkdown(observed)}.${required === undefined ? '' : ` Required: ${escapeMarkdown(required)}.`}`,
    ...(detail === undefined ? [] : [escapeMarkdown(detail)]),
    ...(objects === undefined || objects.length === 0 ? [] : [objects.map(markdownCode).join(', ')]),
    ...(fix === undefined
      ? []
      : [`Fix: ${escapeMarkdown(fix.text)}${fix.restart === true ? ' The server must be restarted.' : ''}`]),
  ];
  return lines.join('\n\n');
}
