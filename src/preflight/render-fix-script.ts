import { type FixSection, fixSections, undoSections } from './fix-sections.ts';
import type { PreflightReport } from './report.ts';

/** `--fix-sql`: one ordered, idempotent script; undefined when there is nothing to fix. */
export function renderFixScript(report: PreflightReport): string | undefined {
  return script(report, fixSections(report), 'Makes the source ready for the migration.');
}

/** `--undo-sql`: restores the values observed before. */
export function renderUndoScript(report: PreflightReport): string | undefined {
  return script(report, undoSections(report), 'Restores what was observed before the fix script ran.');
}

function script(report: PreflightReport, sections: readonly FixSection[], purpose: string): string | undefined {
  if (sections.length === 0) return undefined;
  const isRedis = report.engine === 'redis';
  const mark = isRedis ? '#' : '--';
  const { host, port } = report.source;
  const how = isRedis
    ? 'Give the lines that are not comments to redis-cli; the comments say what else to do.'
    : 'Run it with: psql -X -v ON_ERROR_STOP=1 -f THIS-FILE "host=… dbname=… user=…". ALTER SYSTEM does not run inside a transaction, so leave --single-transaction out.';
  const head = [
    purpose,
    `Source ${host}:${port}, judged ${report.started_at}. ${how}`,
    'It can be run again: every statement leaves things as it wants them.',
  ];
  const guard = isReadOnly(report) ? ['SET default_transaction_read_only = off;'] : [];
  const body = sections.map((section, at) => sectionText(section, at + 1, mark, guard).join('\n'));
  return `${head.map((line) => `${mark} ${oneLine(line)}`).join('\n')}\n\n${body.join('\n\n')}\n`;
}

/** Sessions of the role may not write: it could not even run the script that changes that. */
function isReadOnly({ findings }: PreflightReport): boolean {
  return findings.some(({ id, status }) => id === 'role-readonly' && status === 'fail');
}

function sectionText(section: FixSection, number: number, mark: string, guard: readonly string[]): readonly string[] {
  const where = section.database === undefined ? '' : `, in database ${oneLine(section.database)}`;
  const head = [
    `${mark} Section ${number}: ${oneLine(section.title)}`,
    `${mark} Run by ${oneLine(section.by)}${where}. ${follows(section)}`,
  ];
  // What no client can run stands in comments, so that running the whole file does no harm.
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
      return 'The server restarts: connections end.';
    case 'reload':
      return 'Nothing else follows.';
    case 'shell':
      return 'On the server itself, not in this client.';
    case 'sql':
    case 'redis':
      return `Cures ${section.findingIds.join(', ')}.`;
    default:
      return section.kind satisfies never;
  }
}

function ended(line: string, kind: FixSection['kind']): string {
  return kind === 'sql' && !line.trimEnd().endsWith(';') ? `${line};` : line;
}

/** The line that takes psql to another database of the same server, whatever its name holds. */
export function psqlConnectCommand(database: string): string {
  const value = database.replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return `\\connect -reuse-previous=on "dbname='${value.replaceAll('"', '""')}'"`;
}

/** Names of databases and roles may hold line ends, which would end a comment, and signs that turn the reading of a line around. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
}
