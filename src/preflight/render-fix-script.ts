import { type FixSection, fixSections, undoSections } from './fix-sections.ts';
import type { PreflightReport } from './report.ts';
import { verdictAfterFixesSentence } from './verdict-after-fixes.ts';

/** `--fix-sql`: one ordered, idempotent script; undefined when there is nothing to fix. */
export function renderFixScript(report: PreflightReport): string | undefined {
  const purpose = 'Prepares the source for the migration.';
  return script(report, fixSections(report), purpose, verdictAfterFixesSentence(report));
}

/** `--undo-sql`: restores the values observed before. */
export function renderUndoScript(report: PreflightReport): string | undefined {
  return script(report, undoSections(report), 'Restores the values that were observed before the fix script ran.');
}

function script(
  report: PreflightReport,
  sections: readonly FixSection[],
  purpose: string,
  after?: string,
): string | undefined {
  if (sections.length === 0) return undefined;
  const isRedis = report.engine === 'redis';
  const mark = isRedis ? '#' : '--';
  const { host, port } = report.source;
  const how = isRedis
    ? 'Run the lines that are not comments with redis-cli; the comments contain the remaining steps.'
    : 'Run it with: psql -X -v ON_ERROR_STOP=1 -f THIS-FILE "host=… dbname=… user=…". ALTER SYSTEM cannot run inside a transaction, so omit --single-transaction.';
  const head = [
    purpose,
    `Source ${host}:${port}, checked ${report.started_at}. ${how}`,
    'It can be run again: every statement is idempotent.',
    ...(after === undefined ? [] : [after]),
  ];
  const guard = isReadOnly(report) ? ['SET default_transaction_read_only = off;'] : [];
  const body = sections.map((section, at) => sectionText(section, at + 1, mark, guard).join('\n'));
  return `${head.map((line) => `${mark} ${oneLine(line)}`).join('\n')}\n\n${body.join('\n\n')}\n`;
}

/** Sessions of the role are read-only, so the script could not run without this setting. */
function isReadOnly({ findings }: PreflightReport): boolean {
  return findings.some(({ id, status }) => id === 'role-readonly' && status === 'fail');
}

function sectionText(section: FixSection, number: number, mark: string, guard: readonly string[]): readonly string[] {
  const where = section.database === undefined ? '' : `, in database ${oneLine(section.database)}`;
  const head = [
    `${mark} Section ${number}: ${oneLine(section.title)}`,
    `${mark} Run by ${oneLine(section.by)}${where}. ${follows(section)}`,
    ...(section.notSimulated ?? []).map((one) => `${mark} Not simulated: ${oneLine(one)}`),
  ];
  // Lines that a client cannot run are comments, so that the whole file can be run.
  const isCommented = section.kind === 'shell' || section.kind === 'restart';
  const lines = section.lines.flatMap((line) =>
    isCommented ? line.split('\n').map((part) => `${mark}   ${part}`) : [ended(line, section.kind)],
  );
  const connect =
    section.kind === 'sql' && section.database !== undefined ? [psqlConnectCommand(section.database)] : [];
  return [...head, ...connect, ...(section.kind === 'sql' ? guard : []), ...lines];
}

function follows(section: FixSection): string {
  switch (section.kind) {
    case 'restart':
      return 'The server restarts, and all connections end.';
    case 'reload':
      return 'No other step is needed.';
    case 'shell':
      return 'Run it on the server, not in this client.';
    case 'sql':
    case 'redis':
      return `Fixes ${section.findingIds.join(', ')}.`;
    default:
      return section.kind satisfies never;
  }
}

function ended(line: string, kind: FixSection['kind']): string {
  return kind === 'sql' && !line.trimEnd().endsWith(';') ? `${line};` : line;
}

/** The psql command that connects to another database of the same server; the name may contain any character. */
export function psqlConnectCommand(database: string): string {
  const value = database.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return `\\connect -reuse-previous=on "dbname='${value.replaceAll('"', '""')}'"`;
}

/** Names may contain line ends, which would end a comment, and characters that change the direction of text. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
}
