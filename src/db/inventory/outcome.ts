import { blockersOf, partsOf } from '../preflight/formats/index.ts';
import type { FindingStatus, MigrationMethod, PreflightReport, PreflightVerdict } from '../preflight/index.ts';

/** The parts of a preflight result that an inventory stores. It contains no secret, and can be stored as JSON. */
export interface Outcome {
  readonly line: number;
  readonly name: string;
  readonly url: string;
  readonly engine: PreflightReport['engine'];
  /** The requested method. */
  readonly method: MigrationMethod;
  readonly state: 'checked' | 'not_checked';
  /** Why the source was not checked, as a clause. */
  readonly reason?: string;
  /** Identifies the server: it is the same for all host names of the server. */
  readonly server?: string;
  readonly server_version?: string;
  readonly address?: string;
  readonly verdict?: PreflightVerdict;
  /** Whether the requested method is possible. */
  readonly ok: boolean;
  readonly proven: boolean;
  /** Ids of the checks that block the requested method. */
  readonly blocked_by: readonly string[];
  /** Findings that a person must know: failures, warnings and unknown results. */
  readonly findings: readonly SourceFinding[];
  readonly databases: number;
  readonly size_bytes?: number;
  readonly queries: number;
  readonly duration_ms: number;
  /** Findings and schemas that differ from the baseline; absent without a baseline. */
  readonly changes?: readonly string[];
}

/** The findings of one check and status in all databases of a source. */
export interface SourceFinding {
  readonly id: string;
  readonly scope: 'server' | 'database';
  readonly status: FindingStatus;
  readonly title: string;
  /** Whether the finding blocks the requested method. */
  readonly is_blocker: boolean;
  readonly accepted?: true;
  /** The names of at most 20 databases; `database_count` is the number of all. */
  readonly databases: readonly string[];
  readonly database_count: number;
  /** The first observed value. */
  readonly observed: string;
  readonly fix?: Fix;
}

export interface Fix {
  readonly text: string;
  /** The first statements. */
  readonly sql: readonly string[];
  readonly restart?: true;
}

/** The properties of a source that are known before its preflight. */
export type Origin = Pick<Outcome, 'line' | 'name' | 'url' | 'engine' | 'method'>;

/** Builds the outcome of a source that was not checked: it has no findings. */
export function uncheckedOutcome(origin: Origin, reason: string, report?: PreflightReport): Outcome {
  return {
    ...origin,
    state: 'not_checked',
    reason: cut(reason),
    ok: false,
    proven: false,
    blocked_by: [],
    findings: [],
    databases: 0,
    queries: report?.queries ?? 0,
    duration_ms: report?.duration_ms ?? 0,
  };
}

/** Reduces a preflight report to the parts that the report of the inventory shows. */
export function checkedOutcome(
  origin: Origin,
  report: PreflightReport,
  server: string | undefined,
  changes?: readonly string[],
): Outcome {
  const groups = partsOf(report.findings);
  const blocking = new Set(report.ok ? [] : blockersOf(report, groups));
  const known = groups.filter(({ first }) => ['fail', 'warn', 'unknown'].includes(first.status));
  const sizes = report.databases.flatMap(({ size_bytes: size }) => size ?? []);
  const { address, server_version: version } = report.source;
  return {
    ...origin,
    state: 'checked',
    ...(server === undefined ? {} : { server }),
    ...(version === undefined ? {} : { server_version: version }),
    ...(address === undefined ? {} : { address }),
    verdict: report.verdict,
    ok: report.ok,
    proven: report.proven,
    blocked_by: [...new Set([...blocking].map(({ first }) => first.id))],
    findings: known.map((group): SourceFinding => {
      const { first, title, databases } = group;
      return {
        id: first.id,
        scope: first.scope,
        status: first.status,
        title: cut(title),
        is_blocker: blocking.has(group),
        ...(first.accepted === true ? { accepted: true } : {}),
        databases: databases.slice(0, shownDatabases).map(cut),
        database_count: databases.length,
        observed: cut(first.observed),
        ...(first.fix === undefined
          ? {}
          : {
              fix: {
                text: cut(group.fix?.text ?? first.fix.text),
                sql: (first.fix.sql ?? []).slice(0, shownStatements).map(cut),
                ...(first.fix.restart === true ? { restart: true } : {}),
              },
            }),
      };
    }),
    databases: report.databases.length,
    ...(sizes.length === 0 ? {} : { size_bytes: sizes.reduce((sum, size) => sum + size, 0) }),
    queries: report.queries,
    duration_ms: report.duration_ms,
    ...(changes === undefined ? {} : { changes: changes.slice(0, shownChanges).map(cut) }),
  };
}

const shownDatabases = 20;
const shownStatements = 3;
const shownChanges = 50;
const shownLength = 500;

/** Truncates a text of the server, because names and messages can have any length. */
function cut(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}…`;
}
