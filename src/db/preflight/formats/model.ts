import { maxTextLength, sanitizeReportLine } from '../../../base/sanitize.ts';
import { countOf, formatBytes, formatDuration, quoteShellArg } from '../../../base/text.ts';
import { singleLineSql } from '../../../postgresql/psql-script.ts';
import { fixSections, isCommented, renderFixScript, renderUndoScript, type Section } from '../fix-script.ts';
import type { DatabaseVerdict, PreflightReport, VerdictCondition } from '../report.ts';
import { sentenceAfterFixes, verdictSentence } from '../verdict.ts';
import {
  blockersOf,
  databasesOf,
  type Entry,
  entriesOf,
  type Fresh,
  groupBy,
  isAccepted,
  isProblem,
  type NonEmpty,
  namesOf,
  type Part,
  partsOf,
  placeOf,
  reasonOf,
  reasons,
  sameEvaluation,
} from './entries.ts';

/** What a report says, as texts that are not escaped yet: built once, and rendered in each format. */
export interface Model {
  /** For values that are printed as they are. */
  readonly report: PreflightReport;
  /** The verdict with its premises. */
  readonly sentence: string;
  /** `db.example.com:5432/shop as mover`. */
  readonly source: string;
  /** `PostgreSQL 15.18`; empty without a login. */
  readonly server: readonly string[];
  /** The number of databases with their size, tables and keys. */
  readonly totals: readonly string[];
  /** That a failed login shows only the first problem; undefined after a login. */
  readonly loginNote: string | undefined;
  /** What blocks the requested method. */
  readonly blockers: readonly Entry[];
  /** Everything that is a problem, or may be one, by severity. */
  readonly problems: readonly Entry[];
  /** The problems that block nothing, and are neither a premise nor a loss. */
  readonly warnings: readonly Entry[];
  /** What passed, was skipped or only informs; checks that were skipped for one reason are one. */
  readonly others: readonly OtherChecks[];
  readonly steps: Steps;
  readonly premises: readonly Premise[];
  /** What is not migrated: a text for each check. */
  readonly losses: readonly string[];
  readonly estimate: string | undefined;
  /** How many rows were read, and which were not; empty for Redis. */
  readonly rows: readonly string[];
  readonly fixScript: string | undefined;
  readonly undoScript: string | undefined;
}

interface Premise {
  /** The condition, its databases and its check. */
  readonly text: string;
  /** The option or command. */
  readonly settledBy: string;
  /** How to settle it, in sentences. */
  readonly advice: string;
  /** For the premise of an entry with several parts: the objects of each, after its reason. */
  readonly objects: readonly string[];
}

interface OtherChecks extends Pick<Entry, 'ids' | 'title' | 'place'> {
  readonly status: string;
  readonly observed: string;
}

interface DatabaseRow {
  readonly names: readonly string[];
  readonly verdict: string;
  readonly contents: string;
  /** The ids of findings that block these databases, but not all. */
  readonly reasons: string;
}

export function modelOf(report: PreflightReport): Model {
  const parts = partsOf(report.findings);
  const entries = entriesOf(parts);
  const problems = entries.filter(({ first }) => isProblem(first));
  const blockers = blockersOf(report, entries);
  const premises = joinPremises(report.premises);
  const { databases } = report;
  return {
    report,
    sentence: verdictSentence(report, premises.map(conditionOf)),
    source: sourceOf(report),
    server: serverOf(report),
    totals: databases.length === 0 ? [] : [countOf(databases.length, 'database'), ...contentsOf(databases)],
    loginNote: loginNoteOf(report),
    blockers,
    problems,
    warnings: problems.filter(
      (one) =>
        one.first.status !== 'unknown' &&
        !blockers.includes(one) &&
        !isLoss(one) &&
        !isOfOtherMethod(report, one.first),
    ),
    others: othersOf(entries.filter(({ first }) => !isProblem(first))),
    steps: stepsOf(report, blockersOf(report, parts)),
    premises: premises.map((group) => premiseOf(group, parts)),
    losses: parts.flatMap(lossOf),
    estimate: estimateOf(report),
    rows: rowsOf(report),
    fixScript: renderFixScript(report),
    undoScript: renderUndoScript(report),
  };
}

/** Whether a finding only blocks a method that nobody requested, while the requested one is possible. */
function isOfOtherMethod(
  { method, methods }: Pick<PreflightReport, 'method' | 'methods'>,
  { status, blocks }: Entry['first'],
): boolean {
  return status === 'fail' && methods[method] === true && blocks.length > 0 && !blocks.includes(method);
}

/** What the user must run so that the requested method becomes possible. */
interface Steps {
  /** The number of changes, such as `1 table, 1 statement, no restart`; undefined if no script can make them. */
  readonly amount: string | undefined;
  /** In the order in which they must run; a statement without a database can run in any. */
  readonly statements: readonly { readonly database: string | undefined; readonly sql: string }[];
  readonly restart: boolean;
  /** False when every line of the fix script is a comment, because all steps must be done by hand on the server. */
  readonly isScriptRun: boolean;
  /** Blockers that no statement can fix. */
  readonly manual: readonly { readonly id: string; readonly text: string }[];
  /** Options in place of a manual fix: they need no change of the server. */
  readonly options: readonly string[];
  /** The verdict after the script, as a sentence. */
  readonly after: string | undefined;
  /** How the method becomes possible without some of the databases. */
  readonly advice: string | undefined;
}

/** Counts the steps of the fix script, without those of optional sections. */
function stepsOf(report: PreflightReport, blockers: readonly Part[]): Steps {
  const sections = fixSections(report).filter(({ isOptional }) => !isOptional);
  const linesOf = (...kinds: readonly Section['kind'][]) =>
    sections
      .filter(({ kind }) => kinds.includes(kind))
      .flatMap(({ database, lines }) => lines.map((sql) => ({ database, sql })));
  const statements = linesOf('sql', 'redis').map(({ database, sql }) => ({
    database,
    sql: statementLine(sql, report),
  }));
  const restart = sections.some(({ kind }) => kind === 'restart');
  const review = linesOf('review').length;
  const onServer = linesOf('shell', 'reload_by_hand').filter(({ sql }) => !sql.startsWith('#')).length;
  const tables = new Set(
    statements.flatMap(({ database, sql }) => tableOf(sql).map((name) => JSON.stringify([database, name]))),
  );
  const places = new Set(statements.flatMap(({ database }) => database ?? [])).size;
  const amount = [
    ...(tables.size === 0 ? [] : [`${countOf(tables.size, 'table')}${places > 1 ? ` in ${places} databases` : ''}`]),
    ...(statements.length === 0 ? [] : [countOf(statements.length, 'statement')]),
    ...(review === 0 ? [] : [`${countOf(review, 'statement')} to review`]),
    ...(onServer === 0 ? [] : [`${countOf(onServer, 'line')} on the server`]),
    restart ? '1 restart' : 'no restart',
  ];
  const { advice, method } = report;
  return {
    amount: sections.length === 0 ? undefined : amount.join(', '),
    statements,
    restart,
    isScriptRun: sections.some((section) => !isCommented(section)),
    manual: blockers.flatMap(({ first: { id, fix: { sql = [], review = [] } = { text: '' } }, fix }) =>
      fix === undefined || sql.length + review.length > 0 ? [] : [{ id, text: fix.text }],
    ),
    options: optionsOf(blockers),
    after: sections.length === 0 ? undefined : sentenceAfterFixes(report),
    advice:
      advice === undefined
        ? undefined
        : `Without ${advice.ignore_dbs.join(', ')} the ${method} migration is possible: --ignore-dbs ${quoteShellArg(advice.ignore_dbs.join(','))}`,
  };
}

function optionsOf(blockers: readonly Part[]): readonly string[] {
  const fixOf = (id: string) => blockers.find(({ first }) => first.id === id)?.first.fix;
  const isTlsOff = (fixOf('tls-negotiate')?.shell ?? []).length > 0;
  // A host without any address is not helped by the option, and its fix does not name it.
  const isPrivate = fixOf('host-public-address')?.text.includes('--allow-private') === true;
  return [
    ...(isTlsOff ? ['Or add --disable-ssl to this command: the migration then sends every row unencrypted.'] : []),
    ...(isPrivate ? ['If the service is on the same network as the source, add --allow-private.'] : []),
  ];
}

/** The table name in an ALTER TABLE statement, quoted as in the statement. */
function tableOf(sql: string): readonly string[] {
  const identifier = String.raw`(?:U&)?(?:"(?:[^"]|"")*"|[^\s".]+)`;
  const [, name] = new RegExp(`^ALTER TABLE (?:ONLY )?(${identifier}(?:\\.${identifier})?)`).exec(sql) ?? [];
  return name === undefined ? [] : [name];
}

/** What to run, and what else to do, in sentences; empty if the method is possible. */
export function stepSentences({ report, steps, loginNote }: Model, fresh: Fresh): readonly string[] {
  const { manual, after, advice } = steps;
  const own = manual.map(({ id, text }) => ({ id, text: fresh(text) }));
  const all = [loginNote, after, ...own.map(({ id, text }) => (text === undefined ? text : `${id}: ${text}`)), advice];
  return report.ok ? [] : all.filter((one) => one !== undefined);
}

/** The lines that fix the findings of a part, for reading and copying; databases with the same lines share them. */
export function fixLinesOf(
  { findings }: Pick<Part, 'findings'>,
  report: Pick<PreflightReport, 'engine'>,
): readonly string[] {
  const mark = report.engine === 'redis' ? '#' : '--';
  const fixes = findings.flatMap(({ fix }) => {
    const { sql = [], review = [], shell = [], database = [] } = fix ?? {};
    const lines = [
      ...sql.map((one) => statementLine(one, report)),
      ...review.map((one) => `${mark} read first: ${oneLine(one)}`),
      ...shell.map(oneLine),
    ];
    return lines.length === 0 ? [] : [{ lines, databases: [database].flat() }];
  });
  const all = groupBy(fixes, ({ lines }) => lines).flatMap((group) => {
    const databases = group.flatMap((fix) => fix.databases);
    return [...(databases.length === 0 ? [] : [oneLine(`${mark} in ${namesOf(databases, 5)}`)]), ...group[0].lines];
  });
  const rest = all.length - shownLines;
  return rest > 0 ? [...all.slice(0, shownLines), `${mark} ${rest} more lines are in the fix script`] : all;
}

const shownLines = 40;

function statementLine(sql: string, { engine }: Pick<PreflightReport, 'engine'>): string {
  return engine === 'redis' ? oneLine(sql) : (singleLineSql(sql) ?? `-- ${oneLine(sql)}`);
}

function oneLine(text: string): string {
  return sanitizeReportLine(text, maxTextLength);
}

/** The premises of one question together, after the others. */
function joinPremises(all: readonly VerdictCondition[]): readonly NonEmpty<VerdictCondition>[] {
  const others = groupBy(
    all.filter(({ id }) => !reasons.has(id)),
    (one) => all.indexOf(one),
  );
  return [
    ...others,
    ...groupBy(
      all.filter(({ id }) => reasons.has(id)),
      () => 'one question',
    ),
  ];
}

function conditionOf([one, ...more]: NonEmpty<VerdictCondition>): string {
  return more.length === 0 ? one.condition : sameEvaluation;
}

function premiseOf(group: NonEmpty<VerdictCondition>, parts: readonly Part[]): Premise {
  const [{ id, databases = [], settle = '', accepted }, ...more] = group;
  const settledBy = [...new Set(group.map((one) => one.settled_by))].join('; ');
  const objects = group
    .filter((one) => reasons.has(one.id))
    .flatMap((one) => {
      const own = parts.filter(({ first }) => first.id === one.id && first.status === 'unknown');
      const named = own.flatMap(({ observations }) => observations.flatMap((seen) => seen.objects));
      return named.length === 0 ? [] : [`${reasonOf(one)}: ${namesOf(named, 2)}`];
    });
  const by = `Settled by: ${settledBy}`;
  if (more.length > 0) return { text: sameEvaluation, settledBy, advice: by, objects };
  const where = databases.length === 0 ? '' : ` in ${placeOf(databases)}`;
  return {
    text: `${conditionOf(group)}${where} (${id}${accepted === true ? ', accepted' : ''})`,
    settledBy,
    advice: [settle, settle.includes(settledBy) ? '' : by].filter((one) => one !== '').join(' '),
    objects,
  };
}

function isLoss({ parts }: Entry): boolean {
  return parts.some((part) => lossOf(part).length > 0);
}

function othersOf(entries: readonly Entry[]): readonly OtherChecks[] {
  const groups = groupBy(entries, ({ first, title }) => (first.status === 'skip' ? first.observed : [first.id, title]));
  const rows = groups.map(([{ first, title, place, ids, parts }, ...more]): OtherChecks => {
    const { status, observed } = first;
    if (more.length > 0)
      return {
        status,
        observed,
        ids: [...ids, ...more.flatMap((one) => one.ids)],
        title: `${more.length + 1} checks`,
        place: '',
      };
    const results = parts.flatMap(({ observations }) => observations).length;
    return { status, ids, title, place, observed: results === 1 ? observed : `${results} different results` };
  });
  return rows.toSorted((a, b) => Number(a.ids.length > 1) - Number(b.ids.length > 1));
}

function lossOf({ first: { id }, findings }: Part): readonly string[] {
  const lost = findings.filter(({ dataLoss }) => dataLoss !== undefined);
  const [one] = lost;
  if (one?.dataLoss === undefined) return [];
  const databases = databasesOf(lost);
  const [name] = databases;
  if (name === undefined) return [`${one.dataLoss} (${id})`];
  const where = databases.length === 1 ? name : `each of ${databases.length} databases`;
  const isSame = lost.every(({ dataLoss }) => dataLoss === one.dataLoss);
  const rest = `${name}, and more in ${databases.length - 1} other databases`;
  return [`${one.dataLoss} in ${isSame ? where : rest} (${id})`];
}

/** The title of the reasons of a row. */
export const databaseReasons = 'Blocked by (in addition to findings about the server)';

/** The largest databases as one row each, or, if there are more than `most`, a row for those with the same verdict. */
export function databaseRows({ report: { databases } }: Model, most: number): readonly DatabaseRow[] {
  const keyOf = ({ verdict, reasons: ids }: DatabaseVerdict) => [verdict, ids];
  const groups = databases.length > most ? groupBy(databases, keyOf) : databases.map((one) => [one] as const);
  return groups.map((group) => ({
    names: group.map(({ name }) => name),
    verdict: group[0].verdict,
    contents: contentsOf(group).join(', '),
    reasons: group[0].reasons.filter((id) => !databases.every((other) => other.reasons.includes(id))).join(', '),
  }));
}

/**
 * A row for each database, without a column that no database has a value for. A title that begins with `#` is that of a column
 * of numbers.
 */
export function databaseTable({ report: { databases } }: Model): readonly (readonly string[])[] {
  const columns: readonly (readonly [title: string, textOf: (one: DatabaseVerdict) => string])[] = [
    ['Database', ({ name }) => name],
    ['Verdict', ({ verdict }) => verdict],
    ['#Tables', ({ tables }) => String(tables ?? '')],
    ['#Keys', ({ keys }) => String(keys ?? '')],
    ['#Size', ({ size_bytes: size }) => (size === undefined ? '' : formatBytes(size))],
    ['Blocked by', ({ reasons: ids }) => ids.join(', ')],
  ];
  const shown = columns.filter(([, textOf]) => databases.some((one) => textOf(one) !== ''));
  return [shown.map(([title]) => title), ...databases.map((one) => shown.map(([, textOf]) => textOf(one)))];
}

/** The size, tables and keys of several databases together, as far as they are known. */
function contentsOf(databases: readonly DatabaseVerdict[]): readonly string[] {
  const sum = (numberOf: (database: DatabaseVerdict) => number | undefined, text: (all: number) => string) => {
    const known = databases.flatMap((database) => numberOf(database) ?? []);
    return known.length === 0 ? [] : [text(known.reduce((all, value) => all + value, 0))];
  };
  return [
    ...sum(({ size_bytes: bytes }) => bytes, formatBytes),
    ...sum(
      ({ tables }) => tables,
      (all) => countOf(all, 'table'),
    ),
    ...sum(
      ({ keys }) => keys,
      (all) => countOf(all, 'key'),
    ),
  ];
}

/** `db.example.com:5432`, `[2001:db8::5]:5432`. */
export function addressOf({ source: { host, port } }: PreflightReport): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function sourceOf(report: PreflightReport): string {
  const { dbname, username } = report.source;
  return `${addressOf(report)}${dbname === undefined ? '' : `/${dbname}`}${username === undefined ? '' : ` as ${username}`}`;
}

/** A version of Redis has no name, that of a relative has: `8.0.2`, `Valkey 8.0.1`. */
function serverOf({ engine, source: { server_version: version } }: PreflightReport): readonly string[] {
  if (version === undefined) return [];
  const name = engine === 'postgresql' ? 'PostgreSQL ' : /^\d/.test(version) ? 'Redis ' : '';
  return [`${name}${version}`];
}

function loginNoteOf({ ok, source, findings }: PreflightReport): string | undefined {
  if (ok || source.server_version !== undefined || findings.length === 0) return undefined;
  return 'Without a login nothing else was checked: run the preflight again when the login succeeds.';
}

/** Whether a wrong or missing password is the only known reason that blocks the migration. */
export function isOnlyBlockedByPassword({ ok, method, findings }: PreflightReport): boolean {
  const blockers = findings.filter(({ status, blocks }) => status === 'fail' && blocks.includes(method));
  return !ok && blockers.length > 0 && blockers.every((one) => one.id === 'auth-password' && !isAccepted(one));
}

function estimateOf({ estimate }: PreflightReport): string | undefined {
  if (estimate === undefined) return undefined;
  const [low, high] = [estimate.seconds_low, estimate.seconds_high].map((seconds) =>
    formatDuration(Math.max(1, seconds) * 1000),
  );
  return low === high ? `about ${low}` : `${low} to ${high}`;
}

function rowsOf({ rows }: PreflightReport): readonly string[] {
  if (rows === undefined) return [];
  if (rows.state === 'not_read')
    return [
      'Rows were not read: only `db preflight --deep` finds damaged pages, invalid bytes, rows over 1 GB and equal keys.',
    ];
  const { longest_snapshot: longest, not_read: notRead, keys_not_compared: keys } = rows;
  const amount = `${countOf(rows.rows, 'row')} of ${countOf(rows.tables, 'table')}, ${formatBytes(rows.bytes)}`;
  const snapshot =
    longest === undefined
      ? ''
      : `; the longest snapshot took ${formatDuration(longest.milliseconds)} (${longest.database}: ${longest.table})`;
  const listed = (title: string, items: readonly { database: string; reason: string; object: string }[]) => {
    const texts = items.map((one) => `${one.object} in ${one.database} (${one.reason.replaceAll('_', ' ')})`);
    return texts.length === 0 ? [] : [`${title}: ${namesOf(texts, 10)}${texts.length > 10 ? ', in -o json' : ''}`];
  };
  return [
    `${rows.state === 'read' ? 'Rows were read' : 'Rows were read in part'}: ${amount}${snapshot}.`,
    ...listed(
      'Not read',
      notRead.map(({ table = 'all tables', ...one }) => ({ ...one, object: table })),
    ),
    ...listed(
      'Keys not compared',
      keys.map(({ index, ...one }) => ({ ...one, object: index })),
    ),
  ];
}

/** The last sentence of a report: what a preflight cannot prove. */
export const limitation =
  'The preflight ran on this machine: it proves that this machine can reach the source, not that the service can.';
