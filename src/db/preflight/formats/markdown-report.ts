import { escapeMarkdown, markdownCode, markdownCodeBlock, markdownCodeCell } from '../../../base/sanitize.ts';
import { renderFixScript } from '../render-fix-script.ts';
import type { PreflightReport } from '../report.ts';
import { verdictAfterFixesSentence } from '../verdict-after-fixes.ts';
import {
  formatDatabaseTotals,
  groupDatabasesByVerdict,
  selectDatabaseSpecificVerdictReasons,
  summarizeDatabaseSizes,
} from './database-groups.ts';
import {
  createRepeatedSentenceFilter,
  describeDataLoss,
  describeFindingDatabases,
  formatNameList,
  formatNewGroupText,
  groupFindings,
  type PreflightFindingGroup,
  type RepeatedSentenceFilter,
  selectBlockingFindingGroups,
  selectProblemGroups,
} from './finding-groups.ts';
import { collectStepsOfRequiredFixes } from './fix-steps.ts';
import {
  failedDatabaseLoginNote,
  formatCopyTimeRange,
  formatFindingStatus,
  formatIgnoreDatabasesAdvice,
  formatPreflightSourceWithUser,
  formatRowReadSummaryLines,
  formatSourceServer,
  formatVerdictConditionLines,
  preflightLimitationNote,
  verdictSentence,
} from './report-text.ts';

/**
 * Renders the report as Markdown, for a ticket or a wiki: verdict, blockers, what to run, then each finding once, by
 * severity.
 */
export function renderMarkdownPreflightReport(report: PreflightReport): string {
  const groups = groupFindings(report.findings);
  const blockers = selectBlockingFindingGroups(report, groups);
  const problems = selectProblemGroups(groups);
  const titled = new Set([...blockers.map(({ first }) => first.id), ...report.premises.map(({ id }) => id)]);
  const isNew = createRepeatedSentenceFilter();
  const facts = [...formatSourceServer(report), ...formatDatabaseTotals(report)];
  const parts = [
    `# Preflight: ${report.verdict}`,
    `**${escapeMarkdown(verdictSentence(report))}**`,
    [markdownCode(formatPreflightSourceWithUser(report)), ...facts.map(escapeMarkdown)].join(', '),
    ...(blockers.length === 0 ? [] : [blockedBy(report, blockers)]),
    ...whatToRun(report, groups, isNew),
    ...notes(report, groups),
    ...problems.map((group) => entry(group, titled.has(group.first.id), isNew)),
    ...(report.databases.length === 0 ? [] : [`## Databases\n\n${databases(report)}`]),
    ...scriptPart(report),
    `Checked ${report.started_at}. ${preflightLimitationNote}`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function blockedBy({ method }: PreflightReport, blockers: readonly PreflightFindingGroup[]): string {
  const rows = blockers.map(({ title, first, databases }) => {
    const where = describeFindingDatabases(databases);
    return `- ${escapeMarkdown(`${title}${where === '' ? '' : ` in ${where}`}`)} (${markdownCode(first.id)})`;
  });
  return `The ${method} migration is blocked by\n\n${rows.join('\n')}`;
}

function whatToRun(
  report: PreflightReport,
  groups: readonly PreflightFindingGroup[],
  isNew: RepeatedSentenceFilter,
): readonly string[] {
  if (report.ok) return [];
  const { amount, manual } = collectStepsOfRequiredFixes(report, groups);
  const after = amount === undefined ? undefined : verdictAfterFixesSentence(report);
  const sentences = [
    ...[failedDatabaseLoginNote(report) ?? []].flat(),
    ...(after === undefined ? [] : [after]),
    ...manual.flatMap(({ id, text }) => {
      const fresh = isNew(text);
      return fresh === undefined ? [] : [`${id}: ${fresh}`];
    }),
    ...[formatIgnoreDatabasesAdvice(report) ?? []].flat(),
  ];
  if (amount === undefined && sentences.length === 0) return [];
  return [
    `**What to run: ${amount ?? 'see below'}**`,
    ...(sentences.length === 0 ? [] : [sentences.map((one) => `- ${escapeMarkdown(one)}`).join('\n')]),
  ];
}

function notes(report: PreflightReport, groups: readonly PreflightFindingGroup[]): readonly string[] {
  const estimate = formatCopyTimeRange(report);
  const lines = [
    ...formatVerdictConditionLines(report).map((premise) => `- Open premise: ${escapeMarkdown(premise)}`),
    ...describeDataLoss(groups).map((loss) => `- Not migrated: ${escapeMarkdown(loss)}`),
    ...(estimate === undefined ? [] : [`- Estimated duration: ${estimate}`]),
    ...formatRowReadSummaryLines(report).map((text) => `- ${escapeMarkdown(text)}`),
  ];
  return lines.length === 0 ? [] : [lines.join('\n')];
}

function entry(group: PreflightFindingGroup, isTitled: boolean, isNew: RepeatedSentenceFilter): string {
  const { first, title, databases: names, observations } = group;
  const { id, required, fix } = first;
  const detail = formatNewGroupText(group.detail, isNew);
  const fixText = formatNewGroupText(group.fixText, isNew) ?? 'as above';
  const where = names.length === 0 ? '' : ` in ${describeFindingDatabases(names)}`;
  const shown = observations.slice(0, shownObservations).map(({ observed, objects, databases }) => {
    const place = observations.length === 1 ? 'Observed' : formatNameList(databases, 3);
    const what = objects.length === 0 ? '' : ` (${formatNameList(objects, 5)})`;
    return `- ${escapeMarkdown(`${place}: ${observed}${what}`)}`;
  });
  const rest = observations.length - shownObservations;
  const values = [
    ...shown,
    ...(rest > 0 ? [`- and ${rest} other results`] : []),
    ...(required === undefined ? [] : [`- Required: ${escapeMarkdown(required)}`]),
  ];
  return [
    `### ${escapeMarkdown(`${formatFindingStatus(first)}: ${id}${where}`)}`,
    ...(isTitled ? [] : [`${escapeMarkdown(title)}.`]),
    values.join('\n'),
    ...(detail === undefined ? [] : [escapeMarkdown(detail)]),
    ...(fix === undefined ? [] : [`Fix: ${escapeMarkdown(fixText)}${fix.restart === true ? ' (restart)' : ''}`]),
  ].join('\n\n');
}

const shownObservations = 6;

function databases(report: PreflightReport): string {
  const isShort = report.databases.length <= shownDatabases;
  const groups = isShort ? report.databases.map((one) => [one]) : groupDatabasesByVerdict(report);
  const rows = groups.slice(0, shownDatabases).map((group) => {
    const names = group.slice(0, 3).map(({ name }) => markdownCodeCell(name));
    const more = group.length > 3 ? ` and ${group.length - 3} more` : '';
    const own = group[0] === undefined ? [] : selectDatabaseSpecificVerdictReasons(report, group[0]);
    return `| ${names.join(', ')}${more} | ${group[0]?.verdict} | ${summarizeDatabaseSizes(group).join(', ')} | ${own.join(', ')} |`;
  });
  const rest = groups.length - shownDatabases;
  return [
    '| databases | verdict | contents | blocked by (in addition to findings about the server) |',
    '|---|---|---|---|',
    ...rows,
    ...(rest > 0 ? ['', `and ${rest} other groups`] : []),
  ].join('\n');
}

const shownDatabases = 10;

function scriptPart(report: PreflightReport): readonly string[] {
  const script = renderFixScript(report);
  if (script === undefined) return [];
  const lines = script.trimEnd().split('\n').length;
  return lines > shownScriptLines
    ? [`The fix script has ${lines} lines. Write it into a file with ${markdownCode('--fix-sql fix.sql')}.`]
    : [`## Fix script\n\n${markdownCodeBlock(script, report.engine === 'redis' ? 'sh' : 'sql')}`];
}

const shownScriptLines = 80;
