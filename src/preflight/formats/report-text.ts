import type { Finding, FindingStatus } from '../finding.ts';
import type { PreflightReport, PreflightVerdict } from '../report.ts';

/** Worst first: what a person must look at comes before what is in order. */
const severity: readonly FindingStatus[] = ['fail', 'unknown', 'warn', 'info', 'skip', 'pass'];

/** The question that only the person can answer comes first of all: without the target's version the verdict is half a verdict. */
export function sortBySeverity(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ id, status }: Finding): number =>
    id === 'version-not-newer' && status === 'unknown' ? -1 : severity.indexOf(status);
  return [...findings].sort((a, b) => rank(a) - rank(b));
}

export function verdictSentence(report: PreflightReport): string {
  const words: Readonly<Record<PreflightVerdict, string>> = {
    continuous: 'The continuous migration will run.',
    dump: 'Only a point-in-time dump would work.',
    scan: 'Only a point-in-time scan would work.',
    blocked: 'No migration is possible yet.',
  };
  return report.proven
    ? words[report.verdict]
    : `${words[report.verdict]} Not everything could be asked, so this is not proven.`;
}

/** `12.3 MB`; powers of 1000, as disks are sold. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`;
}

/** `2 min`, `3 h 20 min`, `5 d 2 h`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function estimateRange(report: PreflightReport): string | undefined {
  const { estimate } = report;
  if (estimate === undefined) return undefined;
  const [low, high] = [formatSeconds(estimate.seconds_low), formatSeconds(estimate.seconds_high)];
  return low === high ? `about ${low}` : `${low} to ${high}`;
}

/** What leaving databases out would bring; undefined: nothing. */
export function ignoreAdviceSentence({ advice, method }: PreflightReport): string | undefined {
  if (advice === undefined) return undefined;
  return `Without ${advice.ignore_dbs.join(', ')} the ${method} migration is possible: --ignore-dbs ${advice.ignore_dbs.join(',')}`;
}

/** `db.example.com:5432/shop as mover`. */
export function sourceLabel(report: PreflightReport): string {
  const { host, port, dbname, username } = report.source;
  const name = host.includes(':') ? `[${host}]` : host;
  return `${name}:${port}${dbname === undefined ? '' : `/${dbname}`}${username === undefined ? '' : ` as ${username}`}`;
}

export function findingLocation({ database, only }: Finding): string {
  if (database !== undefined) return `database ${database}`;
  return only === undefined ? 'server' : `server, for ${only.join(', ')}`;
}

/** Names and messages of the source, fit for a terminal or a page: line ends stay, nothing acts. */
export function replaceUnprintable(text: string): string {
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}]/gu, '\ufffd');
}

export function statusLabel(finding: Finding): string {
  return finding.accepted === true ? `${finding.status}, accepted` : finding.status;
}
