import type { CheckFinding } from '../../../src/db/preflight/finding.ts';
import type { PreflightReport } from '../../../src/db/preflight/report.ts';
import { type Ran, type RunOptions, run } from '../../fixtures/cli.ts';
import type { Environment, Folders } from '../../fixtures/folders.ts';
import type { Postgres } from '../../fixtures/postgres.ts';
import { validReport } from '../../fixtures/report-schema.ts';

/** Whoever is asked and how: the password stands in the environment unless the test says otherwise. */
export interface PreflightRunOptions extends Omit<RunOptions, 'folders' | 'env'> {
  readonly folders: Folders;
  readonly env?: Environment;
  readonly dbname?: string;
  readonly username?: string;
}

/** `db preflight` of a server on this machine, judged for the address that is used. */
export function runPreflight(
  server: Postgres,
  words: readonly string[],
  { dbname, username, ...asked }: PreflightRunOptions,
) {
  const all = ['db', 'preflight', '--source', server.url(dbname, username), ...localSourceOptions(server), ...words];
  return run(all, { limit: 90_000, ...asked, env: { PGPASSWORD: server.password, ...asked.env } });
}

/** What tells a source on this machine from one that the service reaches. */
export function localSourceOptions(server: Postgres): readonly string[] {
  return ['--allow-private', ...(server.ca === undefined ? ['--disable-ssl'] : ['--ca-file', server.ca.file])];
}

/** The report of a run with `-o json`. */
export function reportOf(ran: Ran): PreflightReport {
  if (ran.stdout === '') throw new Error(`no report; exit ${ran.code}\n${ran.stderr}`);
  return validReport(ran.json<PreflightReport>());
}

/** Findings that say more than that all is well, as `id database: observed`. */
export function problemFindings({ findings }: PreflightReport): readonly string[] {
  return findings.filter(({ status }) => !['pass', 'skip', 'info'].includes(status)).map(named);
}

export function idsOf(
  { findings }: PreflightReport,
  ...statuses: readonly CheckFinding['status'][]
): readonly string[] {
  return [...new Set(findings.filter(({ status }) => statuses.includes(status)).map(({ id }) => id))];
}

export function findingOf({ findings }: PreflightReport, id: string, database?: string): CheckFinding {
  const found = findings.find((finding) => finding.id === id && finding.database === database);
  if (found === undefined) throw new Error(`no finding ${id}${database === undefined ? '' : ` of ${database}`}`);
  return found;
}

function named({ id, status, database, observed }: CheckFinding): string {
  return `${status} ${id}${database === undefined ? '' : ` ${database}`}: ${observed}`;
}
