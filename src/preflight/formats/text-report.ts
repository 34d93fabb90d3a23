import { sanitizeReportLine } from '../../sanitize/terminal-text.ts';
import type { BaselineChange } from '../baseline.ts';
import type { Finding, FindingStatus } from '../finding.ts';
import type { PreflightReport } from '../report.ts';
import { verdictAfterFixesSentence } from '../verdict-after-fixes.ts';
import {
  estimateRange,
  findingTitle,
  formatBytes,
  ignoreAdviceSentence,
  premiseLines,
  sortBySeverity,
  sourceLabel,
  statusLabel,
  verdictSentence,
} from './report-text.ts';

/** Styles of the terminal; each returns its text unchanged when colour is off. */
export interface TextStyles {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** The report on a terminal: verdict, databases, findings that do not pass, by severity. A finding in several databases is shown once. */
export function textReport(
  report: PreflightReport,
  ink: TextStyles,
  changes: readonly BaselineChange[] | undefined,
): string {
  const problems = sortBySeverity(report.findings).filter(
    ({ status }) => status !== 'pass' && status !== 'skip' && status !== 'info',
  );
  const estimate = estimateRange(report);
  const version = report.source.server_version;
  const after = verdictAfterFixesSentence(report);
  const head = [
    ink.bold(line(verdictSentence(report))),
    line(
      `${sourceLabel(report)}${version === undefined ? '' : `, ${report.engine === 'redis' ? 'Redis' : 'PostgreSQL'} ${version}`}`,
    ),
    Object.entries(report.summary)
      .filter(([, count]) => count > 0)
      .map(([status, count]) => `${count} ${status}`)
      .join(', '),
    ...(estimate === undefined ? [] : [`Estimated duration ${estimate}.`]),
    ...(ignoreAdviceSentence(report) === undefined ? [] : [line(`${ignoreAdviceSentence(report)}`)]),
    ...report.data_loss.map((loss) => line(`Not migrated: ${loss}.`)),
    ...(after === undefined ? [] : [line(after)]),
    ...premiseLines(report).map((premise) => line(`Open premise: ${premise}`)),
  ];
  const parts = [
    head.join('\n'),
    ...(report.databases.length === 0 ? [] : [databases(report)]),
    ...grouped(problems).map((group) => entry(group, ink)),
    ...(changes === undefined ? [] : [changesText(changes)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The same check with the same outcome in several databases. */
function grouped(findings: readonly Finding[]): readonly (readonly Finding[])[] {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.id, finding.status, finding.observed, finding.objects ?? []]);
    groups.set(key, [...(groups.get(key) ?? []), finding]);
  }
  return [...groups.values()];
}

function entry(group: readonly Finding[], ink: TextStyles): string {
  const [finding] = group;
  if (finding === undefined) return '';
  const { id, observed, required, detail, objects, fix, blocks, only } = finding;
  const names = only ?? group.flatMap(({ database }) => database ?? []);
  const where = names.length === 0 ? '' : `in ${listed(names, 5)}`;
  const blocked = blocks.length === 0 ? '' : ` (blocks ${blocks.join(' and ')})`;
  const mark = paintOf(finding.status, ink)(`${statusLabel(finding)}:`);
  return [
    `${mark} ${id}${where === '' ? '' : ` ${line(where)}`}${ink.dim(blocked)}`,
    indented(findingTitle(finding)),
    indented(`observed: ${observed}${required === undefined ? '' : `; required: ${required}`}`),
    ...(detail === undefined ? [] : [indented(detail)]),
    ...(objects === undefined || objects.length === 0 ? [] : [indented(objects.join(', '))]),
    ...(fix === undefined
      ? []
      : [indented(`fix: ${fix.text}${fix.restart === true ? ' (restart)' : fix.reload === true ? ' (reload)' : ''}`)]),
  ].join('\n');
}

function databases(report: PreflightReport): string {
  const rows = report.databases.map(({ name, verdict, size_bytes: size, tables, reasons }) => {
    const facts = [
      size === undefined ? undefined : formatBytes(size),
      tables === undefined ? undefined : `${tables} tables`,
    ];
    const because = reasons.length === 0 ? '' : `: ${reasons.join(', ')}`;
    return indented(`${name}  ${verdict}${because}  ${facts.filter((fact) => fact !== undefined).join(', ')}`);
  });
  return ['Databases', ...rows.slice(0, 40), ...(rows.length > 40 ? [`  and ${rows.length - 40} more`] : [])].join(
    '\n',
  );
}

function changesText(changes: readonly BaselineChange[]): string {
  if (changes.length === 0) return 'No changes since the baseline.';
  const rows = changes.map(({ id, database, before, after }) => {
    const name = database === undefined ? id : `${id} in ${database}`;
    const was = before === undefined ? 'missing' : `${before.status} (${before.observed})`;
    const is = after === undefined ? 'missing' : `${after.status} (${after.observed})`;
    return indented(`${name}: ${was} -> ${is}`);
  });
  return ['Changes since the baseline', ...rows].join('\n');
}

function indented(text: string): string {
  return `  ${line(text)}`;
}

/** Names and messages of the source never begin a line of their own. */
function line(text: string): string {
  return sanitizeReportLine(text);
}

function paintOf(status: FindingStatus, ink: TextStyles): (text: string) => string {
  if (status === 'fail') return ink.red;
  return status === 'warn' || status === 'unknown' ? ink.yellow : ink.bold;
}

function listed(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ');
}
