import { countOf, formatBytes, formatDuration } from '../../../base/text.ts';
import { quoteShellArg } from '../../../cli/shell-quote.ts';
import type { CheckFinding, PreflightFindingStatus } from '../finding.ts';
import type { PreflightReport, PreflightVerdict } from '../report.ts';

/** The order of finding statuses in a report. */
const severity: readonly PreflightFindingStatus[] = ['fail', 'unknown', 'warn', 'info', 'skip', 'pass'];

/** Sorts findings by severity. The missing version of the target comes first, because only the user can give it. */
export function sortFindingsBySeverity(findings: readonly CheckFinding[]): readonly CheckFinding[] {
  const rank = ({ id, status }: CheckFinding): number =>
    id === 'version-not-newer' && status === 'unknown' ? -1 : severity.indexOf(status);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

/**
 * The sentence that states the verdict, and the conditions under which it is correct: at most two of them, and the
 * number of the others.
 */
export function verdictSentence({ verdict, premises }: Pick<PreflightReport, 'verdict' | 'premises'>): string {
  const rule =
    verdict === 'dump' || verdict === 'scan' ? ' No application may write to the source until the copy ends.' : '';
  if (premises.length === 0) return `${possibleMethod[verdict]}.${rule}`;
  const named = premises.slice(0, 2).map(({ condition }) => condition);
  const others = premises.length - named.length;
  const all = others === 0 ? named : [...named, countOf(others, 'more premise holds', 'more premises hold')];
  return `${runningMethod[verdict]} if ${all.join(', and if ')}. This is not proven.${rule}`;
}

const possibleMethod: Readonly<Record<PreflightVerdict, string>> = {
  continuous: 'The continuous migration is possible',
  dump: 'Only a point-in-time dump is possible',
  scan: 'Only a point-in-time scan is possible',
  blocked: 'No migration is possible',
};

const runningMethod: Readonly<Record<PreflightVerdict, string>> = {
  continuous: 'The continuous migration will run',
  dump: 'Only a point-in-time dump will run,',
  scan: 'Only a point-in-time scan will run,',
  blocked: possibleMethod.blocked,
};

/** One line for each condition that is not known to be true, with the option or command that resolves it. */
export function formatVerdictConditionLines({ premises }: Pick<PreflightReport, 'premises'>): readonly string[] {
  return premises.map(({ id, condition, databases = [], settle = '', settled_by: settledBy, accepted }) => {
    const [first] = databases;
    const where =
      first === undefined ? '' : databases.length === 1 ? ` in ${first}` : ` in ${databases.length} databases`;
    const sentences = [settle, settle.includes(settledBy) ? '' : `Settled by: ${settledBy}`].filter(
      (one) => one !== '',
    );
    return `${condition}${where} (${id}${accepted === true ? ', accepted' : ''}). ${sentences.join(' ')}`;
  });
}

export function formatCopyTimeRange(report: PreflightReport): string | undefined {
  const { estimate } = report;
  if (estimate === undefined) return undefined;
  const [low, high] = [estimate.seconds_low, estimate.seconds_high].map((seconds) =>
    formatDuration(Math.max(1, seconds) * 1000),
  );
  return low === high ? `about ${low}` : `${low} to ${high}`;
}

/** Lines that state how many rows the preflight read; an empty list for Redis. */
export function formatRowReadSummaryLines({ rows }: Pick<PreflightReport, 'rows'>): readonly string[] {
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
  return [
    `${rows.state === 'read' ? 'Rows were read' : 'Rows were read in part'}: ${amount}${snapshot}.`,
    ...listed(
      'Not read',
      notRead.map(
        ({ database, table, reason }) => `${table ?? 'all tables'} in ${database} (${formatReasonAsWords(reason)})`,
      ),
    ),
    ...listed(
      'Keys not compared',
      keys.map(({ database, index, reason }) => `${index} in ${database} (${formatReasonAsWords(reason)})`),
    ),
  ];
}

function listed(title: string, items: readonly string[]): readonly string[] {
  if (items.length === 0) return [];
  const more = items.length - shownItems;
  const shown = items.slice(0, shownItems).join(', ');
  return [`${title}: ${shown}${more > 0 ? ` and ${more} more, in -o json` : ''}`];
}

const shownItems = 10;

/** Formats the identifier of a reason as words: `row_security` is `row security`. */
export function formatReasonAsWords(reason: string): string {
  return reason.replaceAll('_', ' ');
}

/**
 * Names the databases to ignore so that the migration method becomes possible; undefined if ignoring databases does not
 * help.
 */
export function formatIgnoreDatabasesAdvice({ advice, method }: PreflightReport): string | undefined {
  if (advice === undefined) return undefined;
  return `Without ${advice.ignore_dbs.join(', ')} the ${method} migration is possible: --ignore-dbs ${quoteShellArg(advice.ignore_dbs.join(','))}`;
}

/** The headline of a finding when its check does not pass, and the title when the check passes. */
export function findingTitle({ status, title, headline, premise = title }: CheckFinding): string {
  if (status === 'unknown') return `It is not known whether ${premise}`;
  return status === 'pass' || status === 'skip' ? capitalizeUnlessSettingOrFileName(title) : headline;
}

/**
 * Converts a clause to a sentence. If the clause begins with the name of a setting or a file, the name keeps its
 * spelling.
 */
export function capitalizeUnlessSettingOrFileName(text: string): string {
  return /^[a-z]+[_.]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** The last sentence of a report: what a preflight cannot prove. */
export const preflightLimitationNote =
  'The preflight ran on this machine: it proves that this machine can reach the source, not that the service can.';

/** `db.example.com:5432/shop as mover`. */
export function formatPreflightSourceWithUser(report: PreflightReport): string {
  const { dbname, username } = report.source;
  return `${formatPreflightSourceAddress(report)}${dbname === undefined ? '' : `/${dbname}`}${username === undefined ? '' : ` as ${username}`}`;
}

/** `PostgreSQL 15.18`, `Valkey 8.0.1`; empty without a login. A version of Redis has no name, that of a relative has. */
export function formatSourceServer({
  engine,
  source: { server_version: version },
}: PreflightReport): readonly string[] {
  if (version === undefined) return [];
  const name = engine === 'postgresql' ? 'PostgreSQL ' : /^\d/.test(version) ? 'Redis ' : '';
  return [`${name}${version}`];
}

/** `db.example.com:5432`, `[2001:db8::5]:5432`. */
export function formatPreflightSourceAddress({ source: { host, port } }: PreflightReport): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export function findingLocation({ database, only }: CheckFinding): string {
  if (database !== undefined) return `database ${database}`;
  return only === undefined ? 'server' : `server, for ${only.join(', ')}`;
}

export function formatFindingStatus(finding: CheckFinding): string {
  return finding.accepted === true ? `${finding.status}, accepted` : finding.status;
}

/** Whether a wrong or missing password is the only known reason that blocks the migration. */
export function isOnlyBlockedByPassword({ ok, method, findings }: PreflightReport): boolean {
  const blockers = findings.filter(({ status, blocks }) => status === 'fail' && blocks.includes(method));
  return (
    !ok && blockers.length > 0 && blockers.every(({ id, accepted }) => id === 'auth-password' && accepted !== true)
  );
}

/** A note for the first screen: after a failed login the findings show only the first problem. Undefined after a login. */
export function failedDatabaseLoginNote({ ok, source, findings }: PreflightReport): string | undefined {
  if (ok || source.server_version !== undefined || findings.length === 0) return undefined;
  return 'Without a login nothing else was checked: run the preflight again when the login succeeds.';
}
