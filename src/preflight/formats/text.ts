import type { Change } from '../baseline.ts';
import type { Finding, Status } from '../finding.ts';
import type { Report } from '../report.ts';
import {
  adviceText,
  bySeverity,
  bytesText,
  estimateText,
  printable,
  sourceText,
  statusWord,
  verdictWords,
} from './shared.ts';

/** Styles of the terminal; each gives its text back where there is no colour. */
export interface Ink {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly yellow: (text: string) => string;
}

/** The report on a terminal: verdict first, then the databases, then what to look at, worst first. The same finding in many databases is told once. */
export function textReport(report: Report, ink: Ink, changes: readonly Change[] | undefined): string {
  const worth = bySeverity(report.findings).filter(
    ({ status }) => status !== 'pass' && status !== 'skip' && status !== 'info',
  );
  const estimate = estimateText(report);
  const version = report.source.server_version;
  const head = [
    ink.bold(verdictWords(report)),
    printable(
      `${sourceText(report)}${version === undefined ? '' : `, ${report.engine === 'redis' ? 'Redis' : 'PostgreSQL'} ${version}`}`,
    ),
    Object.entries(report.summary)
      .filter(([, count]) => count > 0)
      .map(([status, count]) => `${count} ${status}`)
      .join(', '),
    ...(estimate === undefined ? [] : [`Estimated duration ${estimate}.`]),
    ...(adviceText(report) === undefined ? [] : [printable(`${adviceText(report)}`)]),
    ...report.data_loss.map((loss) => printable(`Not carried over: ${loss}.`)),
  ];
  const parts = [
    head.join('\n'),
    ...(report.databases.length === 0 ? [] : [printable(databases(report))]),
    ...grouped(worth).map((group) => entry(group, ink)),
    ...(changes === undefined ? [] : [printable(changesText(changes))]),
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

function entry(group: readonly Finding[], ink: Ink): string {
  const [finding] = group;
  if (finding === undefined) return '';
  const { id, title, observed, required, detail, objects, fix, blocks, only } = finding;
  const names = only ?? group.flatMap(({ database }) => database ?? []);
  const where = names.length === 0 ? '' : ` in ${listed(names, 5)}`;
  const blocked = blocks.length === 0 ? '' : ` (blocks ${blocks.join(' and ')})`;
  const mark = paintOf(finding.status, ink)(`${statusWord(finding)}:`);
  return [
    `${mark} ${id}${printable(where)}${ink.dim(blocked)}`,
    printable(`  wanted: ${title}`),
    printable(`  observed: ${observed}${required === undefined ? '' : `; required: ${required}`}`),
    ...(detail === undefined ? [] : [printable(`  ${detail.replaceAll('\n', '\n  ')}`)]),
    ...(objects === undefined || objects.length === 0 ? [] : [printable(`  ${objects.join(', ')}`)]),
    ...(fix === undefined
      ? []
      : [
          printable(
            `  cure: ${fix.text}${fix.restart === true ? ' (restart)' : fix.reload === true ? ' (reload)' : ''}`,
          ),
        ]),
  ].join('\n');
}

function databases(report: Report): string {
  const rows = report.databases.map(({ name, verdict, size_bytes: size, tables, reasons }) => {
    const facts = [
      size === undefined ? undefined : bytesText(size),
      tables === undefined ? undefined : `${tables} tables`,
    ];
    const because = reasons.length === 0 ? '' : `: ${reasons.join(', ')}`;
    return `  ${name}  ${verdict}${because}  ${facts.filter((fact) => fact !== undefined).join(', ')}`.trimEnd();
  });
  return ['Databases', ...rows.slice(0, 40), ...(rows.length > 40 ? [`  and ${rows.length - 40} more`] : [])].join(
    '\n',
  );
}

function changesText(changes: readonly Change[]): string {
  if (changes.length === 0) return 'Nothing changed since the baseline.';
  const rows = changes.map(({ id, database, before, after }) => {
    const name = database === undefined ? id : `${id} in ${database}`;
    const was = before === undefined ? 'not there' : `${before.status} (${before.observed})`;
    const is = after === undefined ? 'not there' : `${after.status} (${after.observed})`;
    return `  ${name}: ${was} -> ${is}`;
  });
  return ['Changed since the baseline', ...rows].join('\n');
}

function paintOf(status: Status, ink: Ink): (text: string) => string {
  if (status === 'fail') return ink.red;
  return status === 'warn' || status === 'unknown' ? ink.yellow : ink.bold;
}

function listed(names: readonly string[], most: number): string {
  return names.length > most ? `${names.slice(0, most).join(', ')} and ${names.length - most} more` : names.join(', ');
}
