import { type Outcome, type SourceFinding, uncheckedOutcome } from '../../../src/db/inventory/outcome.ts';
import { createReportBuilder, type InventoryReport } from '../../../src/db/inventory/report.ts';

/** An outcome of a server with these findings. */
export function outcome(line: number, server: string, findings: readonly SourceFinding[] = []): Outcome {
  const blockedBy = findings.filter(({ is_blocker: isBlocker }) => isBlocker).map(({ id }) => id);
  return {
    line,
    name: `source-${line}`,
    url: `postgres://mover@${server}.example.com:5432/db${line}`,
    engine: 'postgresql',
    method: 'continuous',
    state: 'checked',
    server,
    server_version: '17.5',
    verdict: blockedBy.length === 0 ? 'continuous' : 'dump',
    ok: blockedBy.length === 0,
    proven: true,
    blocked_by: blockedBy,
    findings,
    databases: 1,
    size_bytes: 8_000_000,
    queries: 10,
    duration_ms: 100,
  };
}

export function serverFinding(id: string, more: Partial<SourceFinding> = {}): SourceFinding {
  return {
    id,
    scope: 'server',
    status: 'fail',
    title: `The problem ${id}`,
    is_blocker: true,
    databases: [],
    database_count: 0,
    observed: 'replica',
    fix: { text: `Correct ${id}.`, sql: [`ALTER SYSTEM SET ${id.replace('-', '_')} = 'x'`], restart: true },
    ...more,
  };
}

export function databaseFinding(id: string, name: string, more: Partial<SourceFinding> = {}): SourceFinding {
  const { fix: _fix, ...finding } = serverFinding(id, { scope: 'database', databases: [name], database_count: 1 });
  return { ...finding, observed: '1 table', ...more };
}

export function unreachable(line: number, reason = 'no address accepts a connection'): Outcome {
  const { name, url, engine, method } = outcome(line, `gone${line}`);
  return uncheckedOutcome({ line, name, url, engine, method }, reason);
}

export function reportOf(outcomes: readonly Outcome[]): InventoryReport {
  const builder = createReportBuilder();
  for (const one of outcomes) builder.add(one);
  return builder.finish(Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 2) + 65_000);
}

/** An inventory as a DBA has it: 200 databases of one server, small servers, and some that are away. */
export function sampleOutcomes(): readonly Outcome[] {
  const wal = serverFinding('wal-level', { title: 'wal_level is not logical' });
  const slots = serverFinding('slots-free', {
    title: 'Too few replication slots are free',
    status: 'warn',
    is_blocker: false,
  });
  const identity = (at: number) =>
    databaseFinding('replica-identity', `db${at}`, { title: 'UPDATE fails without a replica identity' });
  return [
    ...Array.from({ length: 200 }, (_, at) =>
      outcome(at + 1, 'large', at % 20 === 0 ? [wal, identity(at + 1)] : [wal]),
    ),
    ...Array.from({ length: 60 }, (_, at) =>
      outcome(at + 201, `small${at % 20}`, at % 3 === 0 ? [identity(at + 201), slots] : [slots]),
    ),
    ...Array.from({ length: 5 }, (_, at) => unreachable(at + 261)),
  ];
}
