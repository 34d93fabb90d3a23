import { CliError } from '../../../base/errors.ts';
import { sanitizeReportLine } from '../../../base/sanitize.ts';
import { createStyles, usesColor } from '../../../cli/color.ts';
import type { CommandIo } from '../../../cli/command-io.ts';
import type { PreflightReport } from '../../preflight/index.ts';
import { dataExcludedFromComparison } from '../comparison.ts';
import {
  failuresOf,
  type RehearsalFailure,
  type RehearsalReport,
  type RehearsalServer,
  type TableComparison,
  unprovenOf,
} from './report.ts';
import type { Rehearsed } from './run.ts';
import { renderRehearsal } from './text.ts';

interface RehearsalReportParts extends Rehearsed {
  readonly preflight: PreflightReport;
  readonly method: 'continuous' | 'dump';
  /** Whether the copied data stays on the target (`--keep`). */
  readonly kept: boolean;
  readonly servers: { readonly source: RehearsalServer; readonly target: RehearsalServer };
  /** Time of the report, in milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export function buildReport(parts: RehearsalReportParts): RehearsalReport {
  const { preflight, method, kept, servers, startedAt, endedAt, databases, warnings, violations, leftovers } = parts;
  const failures: readonly RehearsalFailure[] = [
    ...parts.errors.map((reason) => ({ reason })),
    ...failuresOf(databases),
  ];
  const unproven = unprovenOf(databases);
  return {
    schema_version: 1,
    ok: failures.length === 0 && unproven.length === 0 && leftovers.length === 0,
    engine: preflight.engine,
    method,
    source: servers.source,
    target: servers.target,
    databases,
    failures,
    not_proven: unproven,
    not_compared: [
      ...(preflight.engine === 'postgresql' ? derivedData : []),
      ...dataExcludedFromComparison[preflight.engine],
    ],
    violations,
    warnings,
    left: leftovers,
    kept,
    preflight,
    started_at: new Date(startedAt).toISOString(),
    seconds: Math.round((endedAt - startedAt) / 100) / 10,
  };
}

/** Kinds of data that COPY cannot read, that the target computes, or that a migration copies last. */
const derivedData = ['large objects', 'materialized views', 'foreign tables', 'tables of extensions'];

/** The error of a rehearsal whose report is not ok; exit code 1, or 5 if nothing failed and nothing is proven. */
export function rehearsalError({ failures, left, not_proven: unproven }: RehearsalReport): CliError {
  if (failures.length === 0 && left.length === 0) {
    return new CliError('contents_not_comparable', 'nothing proves that the migration would succeed', {
      detail: unproven.map((line) => sanitizeReportLine(line)).join('; '),
      hint: 'run the same command again while the application writes less',
    });
  }
  if (failures.length === 0) {
    return new CliError('rehearsal_failed', 'could not remove everything that the rehearsal created', {
      detail: left.map(({ object, side }) => sanitizeReportLine(`${object} on the ${side}`)).join(', '),
      hint: 'run the same command again to remove what is left',
    });
  }
  const [first, ...others] = failures.map(({ database, object, reason }) =>
    sanitizeReportLine([database, object, reason].filter((part) => part !== undefined).join(': ')),
  );
  return new CliError('rehearsal_failed', 'the migration would have failed', {
    detail: `${first}${others.length === 0 ? '' : `; ${others.length} more reasons are in the report`}`,
    hint: 'correct the source, or leave the database out with `--ignore-dbs`, and rehearse again',
  });
}

/** Prints the rehearsal report: as text in the format `table`, as one row per compared table in `csv` and `ndjson`. */
export async function printReport({ output, globals, host }: CommandIo, report: RehearsalReport): Promise<void> {
  const isShaped = globals.values('format').length > 0 || globals.value('query') !== undefined;
  if (output.format === 'table' && !isShaped) {
    const ink = await createStyles(usesColor({ sink: host.stdout, env: host.env, noColor: globals.has('no-color') }));
    return output.prose(renderRehearsal(report, ink));
  }
  if (output.format === 'csv' || output.format === 'ndjson' || globals.values('format').length > 0) {
    return output.list(rowsOf(report), view);
  }
  return output.data(report);
}

interface Row extends TableComparison {
  readonly database: string;
}

function rowsOf({ databases }: RehearsalReport): readonly Row[] {
  return databases.flatMap(({ name: database, tables }) => tables.map((table) => ({ database, ...table })));
}

const view = {
  isReport: true,
  columns: [
    { name: 'Database', value: (row: Row) => row.database },
    { name: 'Table', value: (row: Row) => row.name },
    { name: 'RowsSource', value: (row: Row) => row.rows_source },
    { name: 'RowsTarget', value: (row: Row) => row.rows_target },
    { name: 'State', value: (row: Row) => row.state },
    { name: 'Error', value: (row: Row) => row.error },
  ],
};
