import { writeFileSync } from 'node:fs';
import { createTerminalStyles, isColorEnabled } from '../cli/color.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../errors.ts';
import type { PreflightReport } from '../preflight/report.ts';
import {
  failuresOf,
  type Leftover,
  type ObservedViolation,
  type RehearsalFailure,
  type RehearsalReport,
  type RehearsalServer,
  type TableCount,
} from './rehearsal-report.ts';
import { rehearsalText } from './rehearsal-text.ts';
import type { RehearsalRunResult } from './run-params.ts';

export interface RehearsalOutcome extends RehearsalRunResult {
  readonly violations: readonly ObservedViolation[];
  readonly leftovers: readonly Leftover[];
}

export interface RehearsalReportParts extends RehearsalOutcome {
  readonly preflight: PreflightReport;
  readonly method: 'continuous' | 'dump';
  readonly kept: boolean;
  readonly places: { readonly source: RehearsalServer; readonly target: RehearsalServer };
  readonly begun: number;
  readonly ended: number;
}

export function buildRehearsalReport({
  preflight,
  method,
  kept,
  places,
  begun,
  ended,
  ...played
}: RehearsalReportParts): RehearsalReport {
  const { databases, errors, warnings, violations, leftovers: left } = played;
  const failures: readonly RehearsalFailure[] = [...errors.map((reason) => ({ reason })), ...failuresOf(databases)];
  return {
    schema_version: 1,
    ok: failures.length === 0 && left.length === 0,
    engine: preflight.engine,
    method,
    ...places,
    databases,
    failures,
    violations,
    warnings,
    left,
    kept,
    preflight,
    started_at: new Date(begun).toISOString(),
    seconds: Math.round((ended - begun) / 100) / 10,
  };
}

export function rehearsalFailedError({ failures, left }: RehearsalReport): CliError {
  if (failures.length === 0) {
    return new CliError('rehearsal_failed', 'the rehearsal could not remove all it made', {
      detail: left.map(({ object, side }) => `${object} on the ${side}`).join(', '),
      hint: 'run the same command again: it removes first what is left',
    });
  }
  const [first, ...rest] = failures.map(({ database, object, reason }) =>
    [database, object, reason].filter((part) => part !== undefined).join(': '),
  );
  return new CliError('rehearsal_failed', 'the migration would have failed', {
    detail: `${first}${rest.length === 0 ? '' : `; and ${rest.length} more, in the report`}`,
    hint: 'put it right on the source or leave the database out with `--ignore-dbs`, and rehearse again',
  });
}

export function writeRehearsalReport(file: string, report: RehearsalReport): void {
  try {
    writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    throw usageError(`could not write ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** As text where a table would be; rows are tables where a format has rows. */
export async function showRehearsalReport({ output, globals, host }: Context, report: RehearsalReport): Promise<void> {
  const isShaped = globals.values('format').length > 0 || globals.value('query') !== undefined;
  if (output.format === 'table' && !isShaped) {
    const ink = await createTerminalStyles(
      isColorEnabled({ sink: host.stdout, env: host.env, noColor: globals.has('no-color') }),
    );
    return output.text(rehearsalText(report, ink));
  }
  if (output.format === 'csv' || output.format === 'ndjson' || globals.values('format').length > 0) {
    return output.list(rowsOf(report), view);
  }
  return output.data(report);
}

interface Row extends TableCount {
  readonly database: string;
}

function rowsOf({ databases }: RehearsalReport): readonly Row[] {
  return databases.flatMap(({ name: database, tables }) => tables.map((table) => ({ database, ...table })));
}

const view = {
  columns: [
    { name: 'Database', value: (row: Row) => row.database },
    { name: 'Table', value: (row: Row) => row.name },
    { name: 'RowsSource', value: (row: Row) => row.rows_source },
    { name: 'RowsTarget', value: (row: Row) => row.rows_target },
    { name: 'State', value: (row: Row) => row.state },
    { name: 'Error', value: (row: Row) => row.error },
  ],
};
