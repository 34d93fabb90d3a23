import type { BaselineChange } from '../baseline.ts';
import type { Finding, FindingStatus } from '../finding.ts';
import type { PreflightReport } from '../report.ts';
import {
  estimateRange,
  formatBytes,
  ignoreAdviceSentence,
  replaceUnprintable,
  sortBySeverity,
  sourceLabel,
  statusLabel,
  verdictSentence,
} from './report-text.ts';

/** Styles of the terminal; each gives its text back where there is no colour. */
export interface TextStyles {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** The report on a terminal: verdict first, then the databases, then what to look at, worst first. The same finding in many databases is told once. */
export function textReport(
  report: PreflightReport,
  ink: TextStyles,
  changes: readonly BaselineChange[] | undefined,
): string {
  const worth = sortBySeverity(report.findings).filter(
    ({ status }) => status !== 'pass' && status !== 'skip' && status !== 'info',
  );
  const estimate = estimateRange(report);
  const version = report.source.server_version;
  const head = [
    ink.bold(verdictSentence(report)),
    replaceUnprintable(
      `${sourceLabel(report)}${version === undefined ? '' : `, ${report.engine === 'redis' ? 'Redis' : 'PostgreSQL'} ${version}`}`,
    ),
    Object.entries(report.summary)
      .filter(([, count]) => count > 0)
      .map(([status, count]) => `${count} ${status}`)
      .join(', '),
    ...(estimate === undefined ? [] : [`Estimated duration ${estimate}.`]),
    ...(ignoreAdviceSentence(report) === undefined ? [] : [replaceUnprintable(`${ignoreAdviceSentence(report)}`)]),
    ...report.data_loss.map((loss) => replaceUnprintable(`Not carried over: ${loss}.`)),
  ];
  const parts = [
    head.join('\n'),
    ...(report.databases.length === 0 ? [] : [replaceUnprintable(databases(report))]),
    ...grouped(worth).map((group) => entry(group, ink)),
    ...(changes === undefined ? [] : [replaceUnprintable(changesText(changes))]),
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
  const { id, title, observed, required, detail, objects, fix, blocks, only } = finding;
  const names = only ?? group.flatMap(({ database }) => database ?? []);
  const where = names.length === 0 ? '' : ` in ${listed(names, 5)}`;
  const blocked = blocks.length === 0 ? '' : ` (blocks ${blocks.join(' and ')})`;
  const mark = paintOf(finding.status, ink)(`${statusLabel(finding)}:`);
  return [
    `${mark} ${id}${replaceUnprintable(where)}${ink.dim(blocked)}`,
    replaceUnprintable(`  wanted: ${title}`),
    replaceUnprintable(`  observed: ${observed}${required === undefined ? '' : `; required: ${required}`}`),
    ...(detail === undefined ? [] : [replaceUnprintable(`  ${detail.replaceAll('\n', '\n  ')}`)]),
    ...(objects === undefined || objects.length === 0 ? [] : [replaceUnprintable(`  ${objects.join(', ')}`)]),
    ...(fix === undefined
      ? []
      : [
          replaceUnprintable(
            `  cure: ${fix.text}${fix.restart === true ? ' (restart)' : fix.reload === true ? ' (reload)' : ''}`,
          ),
        ]),
  ].join('\n');
}

function databases(report: PreflightReport): string {
  const rows = report.databases.map(({ name, verdict, size_bytes: size, tables, reasons }) => {
    const facts = [
      size === undefined ? undefined : formatBytes(size),
      tables === undefined ? undefined : `${tables} tables`,
    ];
    const because = reasons.length === 0 ? '' : `: ${reasons.join(', ')}`;
    return `  ${name}  ${verdict}${because}  ${facts.filter((fact) => fact !== undefined).join(', ')}`.trimEnd();
  });
  return ['Databases', ...rows.slice(0, 40), ...(rows.length > 40 ? [`  and ${rows.length - 40} more`] : [])].join(
    '\n',
  );
}

function changesText(changes: readonly BaselineChange[]): string {
  if (changes.length === 0) return 'Nothing changed since the baseline.';
  const rows = changes.map(({ id, database, before, after }) => {
    const name = database === undefined ? id : `${id} in ${database}`;
    const was = before === undefined ? 'not there' : `${before.status} (${before.observed})`;
    const is = after === undefined ? 'not there' : `${after.status} (${after.observed})`;
    return `  ${name}: ${was} -> ${is}`;
  });
  return ['Changed since the baseline', ...rows].join('\n');
}

function paintOf(status: FindingStatus, ink: TextStyles): (text: string) => string {
  if (status === 'fail') return ink.red;
  return status === 'warn' || status === 'unknown' ? ink.yellow : ink.bold;
}

function listed(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ');
}
