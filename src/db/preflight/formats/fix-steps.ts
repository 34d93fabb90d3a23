import { maxSanitizedTextLength, sanitizeReportLine } from '../../../base/sanitize.ts';
import { countOf } from '../../../base/text.ts';
import { formatSingleLinePsqlStatement } from '../../../postgresql/psql-script.ts';
import type { FindingFix } from '../finding.ts';
import { buildFixScriptSections, type FixScriptSection, isCommentedFixScriptSection } from '../fix-sections.ts';
import type { PreflightReport } from '../report.ts';
import { formatNameList, type PreflightFindingGroup, selectBlockingFindingGroups } from './finding-groups.ts';

/** What the user must run so that the requested migration method becomes possible. */
interface StepsOfRequiredFixes {
  /** The number of changes, such as `1 table, 1 statement, no restart`; undefined if no script can make them. */
  readonly amount: string | undefined;
  /**
   * The statements in the order in which they must run, each with its database (undefined if it can run in any database).
   */
  readonly statements: readonly PreflightFixStatement[];
  readonly restart: boolean;
  /** False when every line of the fix script is a comment, because all steps must be done by hand on the server. */
  readonly isScriptRun: boolean;
  /** Instructions for blocking findings that no statement can fix. */
  readonly manual: readonly ManualPreflightFix[];
}

interface ManualPreflightFix {
  /** Of the check. */
  readonly id: string;
  readonly text: string;
}

interface PreflightFixStatement {
  readonly database: string | undefined;
  readonly sql: string;
}

/** Counts the steps of the fix script, without those of optional sections. */
export function collectStepsOfRequiredFixes(
  report: PreflightReport,
  groups: readonly PreflightFindingGroup[],
): StepsOfRequiredFixes {
  const sections = buildFixScriptSections(report).filter(({ isOptional }) => !isOptional);
  const statements = sections
    .filter(({ kind }) => kind === 'sql' || kind === 'redis')
    .flatMap(({ database, lines }) => lines.map((sql) => ({ database, sql: readable(sql, report.engine) })));
  const restart = sections.some(({ kind }) => kind === 'restart');
  const manual = selectBlockingFindingGroups(report, groups).flatMap(({ first, fixText }) =>
    fixText === undefined || first.fix === undefined || hasStatements(first.fix)
      ? []
      : [{ id: first.id, text: fixText.text }],
  );
  return {
    amount: sections.length === 0 ? undefined : amountText(sections, statements, restart),
    statements,
    restart,
    isScriptRun: sections.some((section) => !isCommentedFixScriptSection(section)),
    manual,
  };
}

/**
 * The lines that fix a finding, formatted for reading and copying. Databases with the same lines share one group of
 * lines.
 */
export function formatFixLinesOfGroup(
  { findings }: PreflightFindingGroup,
  engine: PreflightReport['engine'],
): readonly string[] {
  const mark = engine === 'redis' ? '#' : '--';
  const places = new Map<string, string[]>();
  for (const { fix } of findings) {
    if (fix === undefined) continue;
    const lines = [
      ...(fix.sql ?? []).map((sql) => readable(sql, engine)),
      ...(fix.review ?? []).map((sql) => `${mark} read first: ${oneLine(sql)}`),
      ...(fix.shell ?? []).map(oneLine),
    ];
    if (lines.length === 0) continue;
    const key = lines.join('\n');
    places.set(key, [...(places.get(key) ?? []), ...(fix.database === undefined ? [] : [fix.database])]);
  }
  const all = [...places].flatMap(([lines, databases]) => [
    ...(databases.length === 0 ? [] : [oneLine(`${mark} in ${formatNameList(databases, 5)}`)]),
    ...lines.split('\n'),
  ]);
  const rest = all.length - shownLines;
  return rest > 0 ? [...all.slice(0, shownLines), `${mark} ${rest} more lines are in the fix script`] : all;
}

const shownLines = 40;

function oneLine(text: string): string {
  return sanitizeReportLine(text, maxSanitizedTextLength);
}

/** Whether the fix has statements; its lines for the server are comments in the script. */
function hasStatements({ sql = [], review = [] }: FindingFix): boolean {
  return sql.length + review.length > 0;
}

function readable(sql: string, engine: PreflightReport['engine']): string {
  return engine === 'redis' ? oneLine(sql) : (formatSingleLinePsqlStatement(sql) ?? `-- ${oneLine(sql)}`);
}

function amountText(
  sections: readonly FixScriptSection[],
  statements: readonly PreflightFixStatement[],
  restart: boolean,
): string {
  const tables = new Set(
    statements.flatMap(({ database, sql }) => tableOf(sql).map((name) => JSON.stringify([database, name]))),
  );
  const databases = new Set(statements.flatMap(({ database }) => database ?? []));
  const linesOf = (kind: FixScriptSection['kind']) =>
    sections
      .filter((one) => one.kind === kind)
      .flatMap(({ lines }) => lines)
      .filter((line) => !line.startsWith('#')).length;
  const onServer = linesOf('shell') + linesOf('reload_by_hand');
  const counts = [
    tables.size === 0
      ? undefined
      : `${countOf(tables.size, 'table')}${databases.size > 1 ? ` in ${databases.size} databases` : ''}`,
    statements.length === 0 ? undefined : countOf(statements.length, 'statement'),
    linesOf('review') === 0 ? undefined : `${countOf(linesOf('review'), 'statement')} to review`,
    onServer === 0 ? undefined : `${countOf(onServer, 'line')} on the server`,
    restart ? '1 restart' : 'no restart',
  ];
  return counts.filter((part) => part !== undefined).join(', ');
}

/** The table name in an ALTER TABLE statement, quoted as in the statement. */
function tableOf(sql: string): readonly string[] {
  const identifier = String.raw`(?:U&)?(?:"(?:[^"]|"")*"|[^\s".]+)`;
  const [, name] = new RegExp(`^ALTER TABLE (?:ONLY )?(${identifier}(?:\\.${identifier})?)`).exec(sql) ?? [];
  return name === undefined ? [] : [name];
}
