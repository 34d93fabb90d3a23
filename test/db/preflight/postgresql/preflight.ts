import { Secret } from '../../../../src/base/secret.ts';
import { nearestWord } from '../../../../src/cli/values.ts';
import type { CheckFinding } from '../../../../src/db/preflight/finding.ts';
import {
  type PostgresqlReport,
  type PostgresqlRunOptions,
  runPostgresqlPreflight,
} from '../../../../src/db/preflight/postgresql/run.ts';
import { systemClock } from '../../../../src/platform/waiting.ts';
import { validReport } from '../../../fixtures/report-schema.ts';
import { preflightOptions } from './facts.ts';

export interface ServerAddress {
  readonly port: number;
  readonly password?: string;
  readonly username?: string;
  readonly dbname?: string;
  readonly options?: Parameters<typeof preflightOptions>[0];
}

/** A run against a server of this machine, without TLS and without the five seconds between two readings of the WAL position. */
export async function preflightServer(
  where: ServerAddress,
  more: Partial<PostgresqlRunOptions> = {},
): Promise<PostgresqlReport> {
  const report = await runPostgresqlPreflight({
    source: {
      host: '127.0.0.1',
      port: where.port,
      dbname: where.dbname ?? 'postgres',
      username: where.username ?? 'postgres',
      password: new Secret((isOwner(where) ? where.password : undefined) ?? 'secret'),
      ssl: 'disable',
    },
    options: preflightOptions({ disableSsl: true, isOverInternet: false, ...where.options }),
    clock: systemClock,
    nearest: nearestWord,
    walInterval: 1,
    ...more,
  });
  return validReport(report);
}

/** Roles that a test makes have the password `secret`; the server's own is another. */
function isOwner({ username }: ServerAddress): boolean {
  return username === undefined || username === 'postgres';
}

export function found(report: PostgresqlReport, id: string, database?: string): CheckFinding {
  const finding = report.findings.find((one) => one.id === id && (database === undefined || one.database === database));
  if (finding === undefined) throw new Error(`no finding of ${id}`);
  return finding;
}
