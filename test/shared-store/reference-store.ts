import {
  compareSharedSessionVersions,
  isRefreshLeaseHeld,
  type SharedSessionEntry,
  type SharedSessionLogEntry,
  type SharedSessionOperation,
  type SharedSessionOperationResult,
  type SharedSessionStore,
} from '../../src/shared-store/shared-session.ts';

/** A row with the id of the attempt, which the store does not return. */
export interface ReferenceRow extends SharedSessionEntry {
  readonly attempt: string | undefined;
  readonly intentAttempt: string | undefined;
}

export interface ReferenceResult {
  readonly applied: boolean;
  readonly row: ReferenceRow | undefined;
  readonly event?: string;
}

/** What the functions in PostgreSQL and the scripts in Redis do, as one pure function. The model of the protocol uses it, too. */
export function applySharedOperation(
  row: ReferenceRow | undefined,
  operation: SharedSessionOperation,
  nowMs: number,
): ReferenceResult {
  const rejected = { applied: false, row };
  switch (operation.op) {
    case 'read':
      return { applied: true, row };
    case 'claim': {
      if (row === undefined || compareSharedSessionVersions(row, operation) !== 'same') return rejected;
      const isHeld = row.holder !== operation.by && isRefreshLeaseHeld(row, nowMs, operation.leaseMs);
      if (row.refusedGen === row.gen || isHeld) return rejected;
      const claimed = {
        ...row,
        holder: operation.by,
        attempt: operation.attempt,
        leaseMs: nowMs + operation.leaseMs,
        previousBy: previousOf(row, operation.attempt),
        intentGen: row.gen,
        intentBy: operation.by,
        intentAttempt: operation.attempt,
        intentMs: nowMs,
      };
      return { applied: true, row: claimed, event: 'claim' };
    }
    case 'renew':
      if (row?.attempt !== operation.attempt) return rejected;
      return { applied: true, row: { ...row, leaseMs: nowMs + operation.leaseMs } };
    case 'release': {
      if (row?.attempt !== operation.attempt) return rejected;
      const free = { ...row, ...noLease };
      if (!operation.unsent) return { applied: true, row: free };
      const intentGen = row.previousBy === undefined ? undefined : row.intentGen;
      return { applied: true, row: { ...free, intentGen, intentBy: row.previousBy, previousBy: undefined } };
    }
    case 'commit': {
      const { epoch, sid, gen, kid, record, event } = operation;
      const order = row === undefined ? 'newer' : compareSharedSessionVersions(operation, row);
      if (order !== 'newer' && order !== 'same') return rejected;
      if (row !== undefined && order === 'same')
        return { applied: true, row: row.kid === kid ? { ...row, record } : row };
      const fresh = { epoch, sid, gen, kid, record, activeKid: row?.activeKid ?? kid };
      return { applied: true, row: { ...noLease, ...noIntent, ...fresh, intentMs: row?.intentMs }, event };
    }
    case 'refuse':
      if (row === undefined || compareSharedSessionVersions(row, operation) !== 'same') return rejected;
      return refuse(row, operation.by, nowMs);
    case 'reseal': {
      if (row === undefined || compareSharedSessionVersions(row, operation) !== 'same') return rejected;
      if (row.kid !== operation.oldKid) return rejected;
      const { kid, record } = operation;
      return { applied: true, row: { ...row, kid, record, activeKid: kid }, event: 'rotate' };
    }
    default:
      return operation satisfies never;
  }
}

function refuse(row: ReferenceRow, by: string, nowMs: number): ReferenceResult {
  const known = [row.previousBy, row.intentBy].flatMap((text) => text?.split(',') ?? []);
  const unreported = known.filter((name) => name !== by);
  const intent =
    unreported.length === 0
      ? { intentGen: undefined, intentBy: undefined, previousBy: undefined }
      : { intentBy: unreported.join(','), previousBy: undefined };
  if (row.refusedGen === row.gen) return { applied: false, row: { ...row, ...intent } };
  const refused = { ...row, ...noLease, ...intent, refusedGen: row.gen, refusedMs: nowMs };
  return { applied: true, row: refused, event: 'refused' };
}

function previousOf(row: ReferenceRow, attempt: string): string | undefined {
  if (row.intentGen !== row.gen) return undefined;
  const known = row.previousBy?.split(',') ?? [];
  if (row.intentAttempt === attempt || row.intentBy === undefined || known.includes(row.intentBy))
    return row.previousBy;
  return [...known, row.intentBy].join(',');
}

const noLease = { holder: undefined, attempt: undefined, leaseMs: undefined };
const noIntent = {
  refusedGen: undefined,
  refusedMs: undefined,
  intentGen: undefined,
  intentBy: undefined,
  intentAttempt: undefined,
  previousBy: undefined,
};

export interface ReferenceStore extends SharedSessionStore {
  readonly operations: SharedSessionOperation[];
  row(): ReferenceRow | undefined;
  /** Replaces the row, as a restored backup does. */
  restore(row: ReferenceRow | undefined): void;
  /** The store does not answer while an error is set. */
  fail(error: Error | undefined): void;
}

/** A store in memory; its clock is `now` in milliseconds. */
export function createReferenceStore(now: () => number = Date.now): ReferenceStore {
  let row: ReferenceRow | undefined;
  let failure: Error | undefined;
  const log: SharedSessionLogEntry[] = [];
  const operations: SharedSessionOperation[] = [];
  return {
    location: 'memory',
    operations,
    row: () => row,
    restore(earlier) {
      row = earlier;
    },
    fail(error) {
      failure = error;
    },
    async run(operation): Promise<SharedSessionOperationResult> {
      if (failure !== undefined) throw failure;
      operations.push(operation);
      const result = applySharedOperation(row, operation, now());
      row = result.row;
      if (result.event !== undefined && row !== undefined && 'by' in operation)
        log.unshift({ atMs: now(), event: result.event, by: operation.by, epoch: row.epoch, gen: row.gen });
      return { applied: result.applied, nowMs: now(), row };
    },
    readLog: async (limit) => log.slice(0, limit),
    close: async () => undefined,
  };
}
