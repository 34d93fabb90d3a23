import { maxTextLength, sanitizeReportLine } from '../../base/sanitize.ts';
import { formatPsqlConnect, lockTimeoutStatement, psqlSetup, singleLineSql } from '../../postgresql/psql-script.ts';
import { type CheckFinding, type FindingFix, instanceAdministrator, type MigrationMethod } from './finding.ts';
import type { PreflightReport } from './report.ts';
import { sentenceAfterFixes } from './verdict.ts';

/** The first line of each generated script, by the option that sets the path of the script. */
export const purposes = {
  'fix-sql': 'Prepares the source for the migration.',
  'undo-sql': 'Restores the values that were observed before the fix script ran.',
} as const;

/** The text at the beginning of the second line of each generated script. */
export function sourceLine({ host, port }: Pick<PreflightReport['source'], 'host' | 'port'>): string {
  return `Source ${host}:${port}, `;
}

/** Renders the script of `--fix-sql`: idempotent statements in order; undefined if there is nothing to fix. */
export function renderFixScript(report: PreflightReport): string | undefined {
  return script(report, fixSections(report), purposes['fix-sql'], sentenceAfterFixes(report));
}

/** Renders the script of `--undo-sql`, which restores the values observed before the fixes. */
export function renderUndoScript(report: PreflightReport): string | undefined {
  return script(report, undoSections(report), purposes['undo-sql'], lockNote(report));
}

/**
 * The script is run after the cut-over, when the lock is what keeps an application that was forgotten from writing to the source;
 * without a cut-over it must end at once. So it is not part of the script.
 */
function lockNote({ engine, method }: PreflightReport): string | undefined {
  if (engine === 'redis' || method !== 'continuous') return undefined;
  return 'It keeps the read-only lock that a cut-over can leave on databases of the source. `cloudctl db cutover CLUSTER` prints the command that ends the lock, before and after the cut-over.';
}

function script(
  report: PreflightReport,
  sections: readonly Section[],
  purpose: string,
  after?: string,
): string | undefined {
  if (sections.length === 0) return undefined;
  const isRedis = report.engine === 'redis';
  const language = isRedis ? redis : psql;
  const needed = sections.filter(({ isOptional }) => !isOptional);
  const optional = sections.filter(({ isOptional }) => isOptional);
  const isRun = sections.some((section) => !isCommented(section));
  const head = [
    purpose,
    `${sourceLine(report.source)}checked ${report.started_at}.${isRun || needed.length === 0 ? ` ${language.howToRun}` : ''}`,
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

interface Language {
  readonly mark: string;
  readonly howToRun: string;
  /** The instruction above statements that the script does not run itself. */
  readonly reviewAdvice: string;
  /** The lines of a section of statements, in the form in which psql or redis-cli runs them. */
  readonly statements: (section: Section) => readonly string[];
}

const redis: Language = {
  mark: '#',
  howToRun:
    'Run the lines that are not comments with redis-cli: grep "^[A-Z]" THIS-FILE | redis-cli -h HOST -p PORT. The comments contain the remaining steps.',
  reviewAdvice: 'Read each command, and run it only if the applications that use the source allow it.',
  statements: ({ lines }) => lines.map((line) => (isRedisLine(line) ? line : unquotable)),
};

/**
 * Whether a line of the script is a Redis command and no comment. The check of its characters is simple, because
 * formatCommand writes printable ASCII only.
 */
function isRedisLine(line: string): boolean {
  return /^[A-Z][\x20-\x7e]*$/.test(line);
}

const psql: Language = {
  mark: '--',
  howToRun:
    'Run this script with: psql -X -v ON_ERROR_STOP=1 -f THIS-FILE "host=… dbname=… user=…". ALTER SYSTEM cannot run inside a transaction, so omit --single-transaction.',
  reviewAdvice:
    'Read each statement, then remove its comment mark. Run expressions of a database as the owner of the table, not as a superuser.',
  statements: ({ kind, database, lines }) => {
    const connect = database === undefined ? undefined : formatPsqlConnect(database);
    if (database !== undefined && connect === undefined) return [unquotable];
    return [
      ...(connect === undefined ? [] : [connect, encoding]),
      ...psqlSetup.filter((line) => kind !== 'reload' || line !== lockTimeoutStatement),
      ...lines.flatMap((line) => withLockTimeout(singleLineSql(line) ?? unquotable)),
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

function sectionText(section: Section, number: number, language: Language): readonly string[] {
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
    ...(isCommented(section) ? lines.map((line) => `${mark}   ${oneLine(line)}`) : lines),
  ];
}

const lockAdvice =
  'A statement that cannot lock its table within 2 s fails, so that it does not block applications: run the script again.';

function follows(section: Section, language: Language): string {
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
  return sanitizeReportLine(text, maxTextLength);
}

/** One section of a fix script: its statements, who runs them and in which database. */
export interface Section {
  /**
   * `sql` and `redis`: statements; `review`: statements that a person reads before running them; `shell`: lines to run
   * on the server; `reload` and `restart`: commands that apply the changes; `reload_by_hand`: a reload after `shell` only.
   */
  readonly kind: 'sql' | 'redis' | 'review' | 'shell' | 'reload' | 'reload_by_hand' | 'restart';
  /** True if the findings of the section do not block the requested method; the section is then written as comments. */
  readonly isOptional: boolean;
  readonly title: string;
  /** The role or person that must run the statements of this section of the fix script. */
  readonly by: string;
  /** The database the section runs in; absent if it can run in any database. */
  readonly database?: string;
  readonly lines: readonly string[];
  /** Ids of the findings that the section fixes. */
  readonly findingIds: readonly string[];
  /** What the fixes of the section do, as sentences: `wal-level: Set wal_level = 'logical'.` */
  readonly notes: readonly string[];
  /** Ids of the findings whose fix was not simulated, each with the reason. */
  readonly notSimulated: readonly string[];
}

/**
 * The sections of the fix script: each statement once, then one reload or one restart. Fixes of findings that block
 * nothing come last.
 */
export function fixSections(report: PreflightReport): readonly Section[] {
  return sections(report, fixLines);
}

/** The statements that restore the observed values, in reverse order (docs/service.md S9.10: restored afterwards). */
export function undoSections(report: PreflightReport): readonly Section[] {
  return sections(report, undoLines, true);
}

/** Whether the fix of a finding is part of the fix script. Findings waived by `--accept` are not fixed. */
export function isInScript(finding: CheckFinding): boolean {
  return pieceOf(finding, fixLines).length > 0;
}

/** Whether the lines of a section are written as comments, which psql and redis-cli skip. */
export function isCommented({ kind, isOptional }: Pick<Section, 'kind' | 'isOptional'>): boolean {
  return isOptional || !(kind === 'sql' || kind === 'redis' || kind === 'reload');
}

/** Whether the fix of a finding is written to the fix script as comments. */
export function isOptionalFix({ blocks }: CheckFinding, method: MigrationMethod): boolean {
  return !blocks.includes(method);
}

interface Lines {
  readonly sql: readonly string[];
  readonly review: readonly string[];
  readonly shell: readonly string[];
}

interface Piece extends Lines {
  readonly finding: CheckFinding;
  readonly fix: FindingFix;
}

const fixLines = ({ sql = [], review = [], shell = [] }: FindingFix): Lines => ({ sql, review, shell });
const undoLines = ({ undo: sql = [], undoReview: review = [], undoShell: shell = [] }: FindingFix): Lines => ({
  sql,
  review,
  shell,
});

function pieceOf(finding: CheckFinding, take: (fix: FindingFix) => Lines): readonly Piece[] {
  const { fix, status, accepted } = finding;
  if (fix === undefined || accepted === true || status === 'pass' || status === 'skip') return [];
  const lines = take(fix);
  return lines.sql.length + lines.review.length + lines.shell.length === 0 ? [] : [{ finding, fix, ...lines }];
}

function sections(report: PreflightReport, take: (fix: FindingFix) => Lines, isUndo = false): readonly Section[] {
  const found = report.findings.flatMap((finding) => pieceOf(finding, take));
  const pieces = isUndo ? found.toReversed() : found;
  return [false, true].flatMap((isOptional) => {
    const those = pieces.filter(({ finding }) => isOptionalFix(finding, report.method) === isOptional);
    return sectionsOf(those, report.engine === 'redis' ? 'redis' : 'sql', isOptional).map((section) => ({
      ...section,
      isOptional,
      // Only the fix script, not the undo script, explains its statements.
      ...(isUndo ? { notes: undoNotes({ ...section, isOptional }), notSimulated: [] } : {}),
    }));
  });
}

/** The undo script is written before the fix script runs, so it is not known yet which manual steps the user will do. */
function undoNotes(section: Section): readonly string[] {
  return isCommented(section) && section.kind !== 'restart'
    ? ['Skip this section if you did not do its steps by hand: the fix script has them as comments.']
    : [];
}

type Draft = Omit<Section, 'isOptional'>;

function sectionsOf(pieces: readonly Piece[], language: 'sql' | 'redis', isOptional: boolean): readonly Draft[] {
  const statements = groupByRunner(pieces, 'sql').map((group) =>
    sectionOf(
      language,
      group,
      language === 'redis' ? lastOfEach(linesOf(group, 'sql')) : mergeStatements(linesOf(group, 'sql')),
    ),
  );
  const reviewed = groupByRunner(pieces, 'review').map((group) => sectionOf('review', group, linesOf(group, 'review')));
  const onServer = groupByRunner(pieces, 'shell').map((group) => sectionOf('shell', group, linesOf(group, 'shell')));
  return [...statements, ...reviewed, ...onServer, ...closingSections(pieces, language, isOptional)];
}

function sectionOf(kind: Section['kind'], group: readonly Piece[], lines: readonly string[]): Draft {
  const [first] = group;
  const database = kind === 'shell' ? undefined : first?.fix.database;
  return {
    kind,
    title: titleOf(group),
    by: runnerOf(first, kind),
    ...(database === undefined ? {} : { database }),
    lines,
    findingIds: idsOf(group),
    notes: [...new Set(group.map(({ finding, fix }) => `${finding.id}: ${fix.text}`))],
    notSimulated: notSimulatedOf(group),
  };
}

function notSimulatedOf(pieces: readonly Piece[]): readonly string[] {
  const all = pieces
    .filter(({ fix }) => fix.simulated === false)
    .map(({ finding, fix }) => `${finding.id}${fix.notSimulated === undefined ? '' : ` (${fix.notSimulated})`}`);
  return [...new Set(all)];
}

function runnerOf(piece: Piece | undefined, kind: Section['kind']): string {
  return piece?.fix.by ?? (kind === 'shell' ? 'the administrator of the server' : superuser);
}

const superuser = 'a superuser';

/** Ends the script with one reload, or with one restart, which also reloads the configuration. */
function closingSections(pieces: readonly Piece[], language: 'sql' | 'redis', isOptional: boolean): readonly Draft[] {
  const restarts = pieces.filter(({ fix }) => fix.restart === true);
  const reloads = pieces.filter(({ fix }) => fix.reload === true && fix.by !== instanceAdministrator);
  if (restarts.length > 0) {
    const isManaged = restarts.every(({ fix }) => fix.by === instanceAdministrator);
    return [
      {
        kind: 'restart',
        title: 'one restart for all changes',
        by: isManaged ? instanceAdministrator : 'the administrator of the server',
        lines: [
          isManaged
            ? '# restart (reboot) the instance in the console of the service'
            : language === 'redis'
              ? 'systemctl restart redis-server'
              : 'pg_ctl restart -D "$PGDATA" -m fast',
        ],
        findingIds: idsOf(restarts),
        notes: isManaged || language === 'redis' ? [] : ['with systemd: systemctl restart postgresql'],
        notSimulated: [],
      },
    ];
  }
  if (reloads.length === 0 || language === 'redis') return [];
  // If all changes are manual steps on the server, the reload is a manual step too: run before them, it has no effect.
  const isByHand = !isOptional && reloads.every(({ sql }) => sql.length === 0);
  return [
    {
      kind: isByHand ? 'reload_by_hand' : 'reload',
      title: 'reload the configuration; connections stay open',
      by: superuser,
      lines: [isByHand ? 'psql -X -c "SELECT pg_catalog.pg_reload_conf()"' : 'SELECT pg_catalog.pg_reload_conf()'],
      findingIds: idsOf(reloads),
      notes: [],
      notSimulated: [],
    },
  ];
}

/**
 * Groups fixes by database and by who must run them. Statements that need no superuser come first, so that the role of
 * a managed service can run as much of the script as possible; then statements for the server, then for each database.
 */
function groupByRunner(pieces: readonly Piece[], part: keyof Lines): readonly (readonly Piece[])[] {
  const groups = new Map<string, Piece[]>();
  for (const piece of pieces.filter((one) => one[part].length > 0)) {
    const key = JSON.stringify([
      part === 'shell' ? null : piece.fix.database,
      runnerOf(piece, part === 'shell' ? 'shell' : 'sql'),
    ]);
    groups.set(key, [...(groups.get(key) ?? []), piece]);
  }
  const rank = ([first]: readonly Piece[]): number =>
    (runnerOf(first, 'sql').startsWith(superuser) ? 2 : 0) + (first?.fix.database === undefined ? 0 : 1);
  return [...groups.values()].sort((a, b) => rank(a) - rank(b));
}

function linesOf(group: readonly Piece[], part: keyof Lines): readonly string[] {
  const lines = group.flatMap((piece) => piece[part]);
  return part === 'sql' ? lines : [...new Set(lines)];
}

/** Removes duplicate statements; of several values of one numeric setting it keeps the largest. */
function mergeStatements(lines: readonly string[]): readonly string[] {
  const largest = new Map<string, { readonly line: string; readonly value: number }>();
  const setting = /^ALTER SYSTEM SET (\w+) = '?(\d+)'?;?$/i;
  for (const line of lines) {
    const [, name, value] = setting.exec(line) ?? [];
    const known = name === undefined ? undefined : largest.get(name);
    if (name !== undefined && (known === undefined || Number(value) > known.value))
      largest.set(name, { line, value: Number(value) });
  }
  const wanted = lines.map((line) => largest.get(setting.exec(line)?.[1] ?? '')?.line ?? line);
  return [...new Set(wanted)];
}

/** Keeps the last of several equal lines: CONFIG REWRITE and ACL SAVE must follow all other changes. */
function lastOfEach(lines: readonly string[]): readonly string[] {
  return lines.filter((line, at) => lines.lastIndexOf(line) === at);
}

function titleOf(group: readonly Piece[]): string {
  const ids = idsOf(group);
  const shown = ids.slice(0, 4).join(', ');
  return ids.length > 4 ? `${shown} and ${ids.length - 4} more` : shown;
}

function idsOf(pieces: readonly Piece[]): readonly string[] {
  return [...new Set(pieces.map(({ finding }) => finding.id))];
}
