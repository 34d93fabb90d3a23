import { escapeMarkdown, markdownCode, markdownCodeBlock, markdownCodeCell } from '../../../base/sanitize.ts';
import { type Entry, type Fresh, freshSentences, freshText, type Part, resultsOf } from './entries.ts';
import { databaseReasons, databaseRows, limitation, type Model, stepSentences } from './model.ts';

/**
 * Renders the report as Markdown, for a ticket or a wiki: verdict, blockers, what to run, then each finding once, by
 * severity.
 */
export function renderMarkdown(model: Model): string {
  const { report, source, server, totals, premises } = model;
  const titled = new Set([...model.blockers.flatMap(({ ids }) => ids), ...report.premises.map(({ id }) => id)]);
  const fresh = freshSentences();
  const parts = [
    `# Preflight: ${report.verdict}`,
    `**${escapeMarkdown(model.sentence)}**`,
    [markdownCode(source), ...[...server, ...totals].map(escapeMarkdown)].join(', '),
    ...blockedBy(model),
    ...whatToRun(model, fresh),
    listOf([
      ...premises.map(({ text, advice }) => `Open premise: ${escapeMarkdown(`${text}. ${advice}`)}`),
      ...model.losses.map((loss) => `Not migrated: ${escapeMarkdown(loss)}`),
      ...(model.estimate === undefined ? [] : [`Estimated duration: ${model.estimate}`]),
      ...model.rows.map(escapeMarkdown),
    ]),
    ...model.problems.flatMap((entry) => findingOf(entry, titled, fresh)),
    ...(report.databases.length === 0 ? [] : [`## Databases\n\n${databases(model)}`]),
    ...scriptOf(model),
    `Checked ${report.started_at}. ${limitation}`,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function blockedBy({ report, blockers }: Model): readonly string[] {
  const rows = blockers.map(({ title, ids, place }) => {
    const checks = ids.map(markdownCode).join(', ');
    return `${escapeMarkdown(`${title}${place === '' ? '' : ` in ${place}`}`)} (${checks})`;
  });
  return rows.length === 0 ? [] : [`The ${report.method} migration is blocked by`, listOf(rows)];
}

function whatToRun(model: Model, fresh: Fresh): readonly string[] {
  const sentences = stepSentences(model, fresh);
  const { amount } = model.steps;
  if (model.report.ok || (amount === undefined && sentences.length === 0)) return [];
  return [`**What to run: ${amount ?? 'see below'}**`, listOf(sentences.map(escapeMarkdown))];
}

function findingOf(entry: Entry, titled: ReadonlySet<string>, fresh: Fresh): readonly string[] {
  const { status, ids, place, title, parts } = entry;
  const isTitled = ids.every((id) => titled.has(id));
  return [
    `### ${escapeMarkdown(`${status}: ${ids.join(', ')}${place === '' ? '' : ` in ${place}`}`)}`,
    ...(isTitled ? [] : [`${escapeMarkdown(title)}.`]),
    ...parts.flatMap((part) => partOf(part, fresh)),
  ];
}

function partOf(part: Part, fresh: Fresh): readonly string[] {
  const { reason = '' } = part;
  const { required, fix } = part.first;
  const detail = freshText(part.detail, fresh);
  const fixText = freshText(part.fix, fresh) ?? 'as above';
  return [
    reason === '' ? '' : `**${escapeMarkdown(reason.charAt(0).toUpperCase() + reason.slice(1))}**`,
    listOf([...resultsOf(part), ...(required === undefined ? [] : [`Required: ${required}`])].map(escapeMarkdown)),
    detail === undefined ? '' : escapeMarkdown(detail),
    fix === undefined ? '' : `Fix: ${escapeMarkdown(fixText)}${fix.restart === true ? ' (restart)' : ''}`,
  ];
}

function databases(model: Model): string {
  const rows = databaseRows(model, 10);
  const cells = rows.slice(0, 10).map(({ names, verdict, contents, reasons }) => {
    const shown = names.slice(0, 3).map(markdownCodeCell).join(', ');
    return [names.length > 3 ? `${shown} and ${names.length - 3} more` : shown, verdict, contents, reasons];
  });
  const head = ['databases', 'verdict', 'contents', databaseReasons.toLowerCase()];
  return `${gridOf(head, cells)}${rows.length > 10 ? `\n\nand ${rows.length - 10} other groups` : ''}`;
}

function scriptOf({ fixScript, report }: Model): readonly string[] {
  if (fixScript === undefined) return [];
  const lines = fixScript.trimEnd().split('\n').length;
  return lines > 80
    ? [`The fix script has ${lines} lines. Write it into a file with ${markdownCode('--fix-sql fix.sql')}.`]
    : [`## Fix script\n\n${markdownCodeBlock(fixScript, report.engine === 'redis' ? 'sh' : 'sql')}`];
}

/** The items must be Markdown. */
function listOf(items: readonly string[]): string {
  return items.map((one) => `- ${one}`).join('\n');
}

/** The cells must be Markdown. */
export function gridOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}
