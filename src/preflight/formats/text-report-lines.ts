import { sanitizeReportLine } from '../../base/sanitize.ts';
import type { PreflightBaselineChange } from '../baseline.ts';
import type { PreflightReport } from '../report.ts';
import {
  groupDatabasesByVerdict,
  selectDatabaseSpecificVerdictReasons,
  summarizeDatabaseSizes,
} from './database-groups.ts';
import { formatNameList } from './finding-groups.ts';

/** How the verdicts of the databases differ; empty when all have the same verdict for the same reasons. */
export function renderDatabaseVerdictLines(report: PreflightReport): readonly string[] {
  const groups = groupDatabasesByVerdict(report);
  if (report.databases.length < 2 || (groups.length < 2 && report.databases.length > shownDatabases)) return [];
  const rows = report.databases.length <= shownDatabases ? report.databases.map((one) => [one]) : groups;
  return [
    'Databases',
    ...rows.slice(0, shownDatabases).map((group) => {
      const names = formatNameList(
        group.map(({ name }) => name),
        5,
      );
      const own = group[0] === undefined ? [] : selectDatabaseSpecificVerdictReasons(report, group[0]);
      const facts = summarizeDatabaseSizes(group).join(', ');
      return indentReportLines(
        `${names}  ${group[0]?.verdict}${own.length === 0 ? '' : `: ${own.join(', ')}`}  ${facts}`,
      );
    }),
    ...(rows.length > shownDatabases ? [`  and ${rows.length - shownDatabases} other groups, in -o json`] : []),
  ];
}

const shownDatabases = 10;

export function renderBaselineChangeLines(changes: readonly PreflightBaselineChange[]): readonly string[] {
  if (changes.length === 0) return ['No changes since the baseline.'];
  const rows = changes.map(({ id, database, before, after }) => {
    const name = database === undefined ? id : `${id} in ${database}`;
    const was = before === undefined ? 'missing' : `${before.status} (${before.observed})`;
    const is = after === undefined ? 'missing' : `${after.status} (${after.observed})`;
    return indentReportLines(`${name}: ${was} -> ${is}`);
  });
  return ['Changes since the baseline', ...rows];
}

/** Indents names and messages of the source, so that they never begin a line of the report. */
export function indentReportLines(text: string): string {
  return `  ${sanitizeReportLine(text)}`;
}
