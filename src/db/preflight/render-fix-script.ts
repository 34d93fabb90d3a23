import { maxSanitizedTextLength, sanitizeReportLine } from '../../base/sanitize.ts';
import {
  formatPsqlConnectMetaCommand,
  formatSingleLinePsqlStatement,
  lockTimeoutStatement,
  psqlSessionSetupStatements,
} from '../../postgresql/psql-script.ts';
import {
  buildFixScriptSections,
  buildUndoScriptSections,
  type FixScriptSection,
  isCommentedFixScriptSection,
} from './fix-sections.ts';
import type { PreflightReport } from './report.ts';
import { verdictAfterFixesSentence } from './verdict-after-fixes.ts';

/** The first line of each generated script, by the option that sets the path of the script. */
export const fixScriptPurposes = {
  'fix-sql': 'Prepares the source for the migration.',
  'undo-sql': 'Restores the values that were observed before the fix script ran.',
} as const;

/** The text at the beginning of the second line of each generated script. */
export function formatFixScriptSourceLine({ host, port }: Pick<PreflightReport['source'], 'host' | 'port'>): string {
  return `Source ${host}:${port}, `;
}

/** Renders the script of `--fix-sql`: idempotent statements in order; undefined if there is nothing to fix. */
export function renderFixScript(report: PreflightReport): string | undefined {
  return script(
    report,
    buildFixScriptSections(report),
    fixScriptPurposes['fix-sql'],
    verdictAfterFixesSentence(report),
  );
}

/** Renders the script of `--undo-sql`, which restores the values observed before the fixes. */
export function renderUndoScript(report: PreflightReport): string | undefined {
  return script(report, buildUndoScriptSections(report), fixScriptPurposes['undo-sql']);
}

function script(
  report: PreflightReport,
  sections: readonly FixScriptSection[],
  purpose: string,
  after?: string,
): string | undefined {
  if (sections.length === 0) return undefined;
  const isRedis = report.engine === 'redis';
  const language = isRedis ? redisLanguage : psqlLanguage;
  const needed = sections.filter(({ isOptional }) => !isOptional);
  const optional = sections.filter(({ isOptional }) => isOptional);
  const isRun = sections.some((section) => !isCommentedFixScriptSection(section));
  const head = [
    purpose,
    `${formatFixScriptSourceLine(report.source)}checked ${report.started_at}.${isRun || needed.length === 0 ? ` ${language.howToRun}` : ''}`,
    ...(isRun
      ? ['It can be run again: every statement is idempotent.']
      : needed.length === 0
        ? []
        : ['The steps below are comments, which a database client skips: do them by hand on the server.']),
    ...(after === undefined ? [] : [after]),
    ...(needed.length === 0
      ? [`No finding with a fix blocks the ${report.method} migration, so every line of this script is a comment.`]
      : []),
  ];
  const body = [...needed, ...optional].map((section, at) => [
    ...(section === optional[0] ? optionalHead(report, language.mark).concat('') : []),
    ...sectionText(section, at + 1, language),
  ]);
  const text = `${comments(head, language.mark).join('\n')}\n\n${isRun && !isRedis ? `\\set ON_ERROR_STOP on\n${encoding}\n\n` : ''}${body
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
  return text;
}

/**
 * The scripts set the encoding, because their comments contain object names in any language, and psql may send comments
 * with a statement.
 */
const encoding = '\\encoding UTF8';

function optionalHead({ method }: PreflightReport, mark: string): readonly string[] {
  return comments(
    [
      `Optional: the findings of the sections below do not block the ${method} migration.`,
      'Remove the comment marks of the statements that you want to run.',
    ],
    mark,
  );
}

interface ScriptLanguage {
  readonly mark: string;
  readonly howToRun: string;
  /** The instruction above statements that the script does not run itself. */
  readonly reviewAdvice: string;
  /** The lines of a section of statements, in the form in which psql or redis-cli runs them. */
  readonly statements: (section: FixScriptSection) => readonly string[];
}

const redisLanguage: ScriptLanguage = {
  mark: '#',
  howToRun:
    'Run the lines that are not comments with redis-cli: grep "^[A-Z]" THIS-FILE | redis-cli -h HOST -p PORT. The comments contain the remaining steps.',
  reviewAdvice: 'Read each command, and run it only if the applications that use the source allow it.',
  statements: ({ lines }) => lines.map((line) => (isRedisLine(line) ? line : unquotable)),
};

/**
 * Whether a line of the script is a Redis command and no comment. The check of its characters is simple, because
 * formatRedisCommand writes printable ASCII only.
 */
function isRedisLine(line: string): boolean {
  return /^[A-Z][\x20-\x7e]*$/.test(line);
}

const psqlLanguage: ScriptLanguage = {
  mark: '--',
  howToRun:
    'Run this script with: psql -X -v ON_ERROR_STOP=1 -f THIS-FILE "host=… dbname=… user=…". ALTER SYSTEM cannot run inside a transaction, so omit --single-transaction.',
  reviewAdvice:
    'Read each statement, then remove its comment mark. Run expressions of a database as the owner of the table, not as a superuser.',
  statements: ({ kind, database, lines }) => {
    const connect = database === undefined ? undefined : formatPsqlConnectMetaCommand(database);
    if (database !== undefined && connect === undefined) return [unquotable];
    return [
      ...(connect === undefined ? [] : [connect, encoding]),
      ...psqlSessionSetupStatements.filter((line) => kind !== 'reload' || line !== lockTimeoutStatement),
      ...lines.flatMap((line) => withLockTimeout(formatSingleLinePsqlStatement(line) ?? unquotable)),
    ];
  },
};

const unquotable = '-- A statement was left out here, because it contains unexpected text from the server.';

/**
 * CREATE INDEX CONCURRENTLY waits for old transactions, and lock_timeout would cancel it and leave an invalid index.
 */
function withLockTimeout(statement: string): readonly string[] {
  return /^(CREATE|DROP|REINDEX)\b[^"']* CONCURRENTLY /.test(statement)
    ? ['SET lock_timeout = 0;', statement, lockTimeoutStatement]
    : [statement];
}

function sectionText(section: FixScriptSection, number: number, language: ScriptLanguage): readonly string[] {
  const { mark } = language;
  const { kind, database, isOptional } = section;
  const where = database === undefined ? '' : `, in database ${database}`;
  const head = [
    `${isOptional ? 'Optional section' : 'Section'} ${number}: ${section.title}`,
    `Run by ${section.by}${where}. ${follows(section, language)}`,
    ...section.notes,
    ...section.notSimulated.map((one) => `Not simulated: ${one}`),
    ...(kind === 'sql' && database !== undefined ? [lockAdvice] : []),
  ];
  const lines =
    kind === 'shell' || kind === 'reload_by_hand' || kind === 'restart'
      ? section.lines.flatMap((line) => line.split(lineEnds))
      : language.statements(section);
  return [
    ...comments(head, mark),
    // Lines that psql or redis-cli cannot run are written as comments, so that the whole file can be run.
    ...(isCommentedFixScriptSection(section) ? lines.map((line) => `${mark}   ${oneLine(line)}`) : lines),
  ];
}

const lockAdvice =
  'A statement that cannot lock its table within 2 s fails, so that it does not block applications: run the script again.';

function follows(section: FixScriptSection, language: ScriptLanguage): string {
  switch (section.kind) {
    case 'restart':
      return 'The server restarts, and all connections end.';
    case 'reload':
      return 'No step other than the statements below is needed.';
    case 'shell':
    case 'reload_by_hand':
      return 'Do these steps on the server, not in the database client.';
    case 'review':
      return language.reviewAdvice;
    case 'sql':
    case 'redis':
      return `Fixes ${section.findingIds.join(', ')}.`;
    default:
      return section.kind satisfies never;
  }
}

function comments(lines: readonly string[], mark: string): readonly string[] {
  return lines.map((line) => `${mark} ${oneLine(line)}`);
}

const lineEnds = /[\n\r\v\f\x85\u2028\u2029]+/;

/** Object names may contain line ends, which would end a comment, and characters that change the text direction. */
function oneLine(text: string): string {
  return sanitizeReportLine(text, maxSanitizedTextLength);
}
