import {
  compareSharedSessionVersions,
  determineRefreshClaimObstacle,
  type SharedSessionOperation,
  type SharedSessionVersion,
} from '../../../src/shared-store/shared-session.ts';
import { applySharedOperation, type ReferenceRow } from '../reference-store.ts';

/**
 * The protocol of the shared store (docs/guides/fleet.md) as a transition system: machines, the store, its backup, and an
 * authorization server whose refresh tokens work once. Leases are over at any time, because nothing may depend on them.
 */
export interface ModelState {
  /** For each session: the generation whose refresh token the server accepts, and whether the session was revoked. */
  readonly server: Readonly<Record<string, { readonly gen: number; readonly isRevoked: boolean }>>;
  /** Requests of processes that were killed; the server may still process them. */
  readonly orphans: readonly SharedSessionVersion[];
  readonly row: ReferenceRow | undefined;
  readonly backup: ReferenceRow | undefined;
  readonly machines: readonly ModelMachine[];
  /** The clock of the store: each login and logout takes at least a second. */
  readonly time: number;
  /** The session of the last login; undefined after a logout. */
  readonly current: string | undefined;
  /** Sessions whose newest grant was lost in a known window, and the window. */
  readonly lost: Readonly<Record<string, LossWindow>>;
  /** Machines that were destroyed. */
  readonly destroyed: number;
  /** How often each fault may still happen. */
  readonly left: FaultBudget;
}

export type LossWindow = 'W1' | 'W2' | 'W3' | 'W4';
export interface FaultBudget {
  readonly kills: number;
  readonly lostAnswers: number;
  readonly restores: number;
  readonly destroyed: number;
  readonly logins: number;
  readonly logouts: number;
  readonly refreshes: number;
}

interface ModelMachine {
  /** The newest version that the machine has seen; gen 0 is a tombstone. */
  readonly copy: SharedSessionVersion | undefined;
  /** The write-ahead file: reserved before the request, sealed when it contains the response. */
  readonly journal: (SharedSessionVersion & { readonly isSealed: boolean }) | undefined;
  readonly process: ModelProcess | undefined;
}

interface ModelProcess {
  readonly at: 'read' | 'claimed' | 'sent' | 'answered' | 'refused' | 'received' | 'sealed';
  readonly version: SharedSessionVersion;
}

/** Changes of the protocol that must break it. */
export interface ModelMutant {
  readonly isCommitFencedByLease?: boolean;
  readonly hasNoCopy?: boolean;
  readonly isRefusalKept?: boolean;
}

export interface ModelStep {
  readonly name: string;
  readonly state: ModelState;
}

/** Every step that is possible in a state. */
export function listModelSteps(state: ModelState, mutant: ModelMutant): readonly ModelStep[] {
  const steps: ModelStep[] = [];
  const add = (name: string, next: ModelState | undefined): void => {
    if (next !== undefined) steps.push({ name, state: next });
  };
  state.machines.forEach((machine, at) => {
    for (const next of stepMachine(state, at, mutant)) add(`m${at} ${next.name}`, next.state);
    if (machine.process !== undefined && state.left.kills > 0) add(`m${at} killed`, kill(state, at));
    if (state.left.destroyed > 0) add(`m${at} destroyed`, destroy(state, at));
    if (state.left.logins > 0 && machine.process === undefined) add(`m${at} login`, login(state, at));
    if (state.left.logouts > 0 && machine.process === undefined) add(`m${at} logout`, logout(state, at));
  });
  state.orphans.forEach((version, at) => {
    const orphans = state.orphans.filter((_, other) => other !== at);
    const { state: next, isGranted } = processRequest({ ...state, orphans }, version);
    add('server processes a request of a killed process', isGranted ? lose(next, version.sid, 'W1') : next);
  });
  if (state.backup === undefined && state.row !== undefined && state.left.restores > 0)
    add('backup', { ...state, backup: state.row });
  if (state.backup !== undefined && state.left.restores > 0) add('restore', restore(state));
  return steps;
}

/** The steps of the process of a machine, or the start of one. */
export function stepMachine(state: ModelState, at: number, mutant: ModelMutant): readonly ModelStep[] {
  const { process } = state.machines[at]!;
  if (process === undefined) return [{ name: 'starts', state: start(state, at, mutant) }];
  const { version } = process;
  const go = (next: ModelProcess['at']): ModelState => withMachine(state, at, { process: { at: next, version } });
  switch (process.at) {
    case 'read':
      return state.left.refreshes > 0 ? [{ name: 'claims', state: claim(state, at, version) }] : [];
    case 'claimed':
      return [{ name: 'sends', state: go('sent') }];
    case 'sent': {
      const { state: processed, isGranted } = processRequest(state, version);
      const next: ModelProcess = { at: isGranted ? 'answered' : 'refused', version };
      return [{ name: 'is answered', state: withMachine(processed, at, { process: next }) }];
    }
    case 'answered': {
      const received = { name: 'receives', state: go('received') };
      if (state.left.lostAnswers === 0) return [received];
      // The process sends the same token once more.
      const left = { ...state.left, lostAnswers: state.left.lostAnswers - 1 };
      return [received, { name: 'loses the answer', state: { ...lose(go('sent'), version.sid, 'W1'), left } }];
    }
    case 'received': {
      const journal = { ...version, gen: version.gen + 1, isSealed: true };
      return [{ name: 'seals', state: withMachine(go('sealed'), at, { journal }) }];
    }
    case 'sealed':
      return [{ name: 'commits', state: commit(state, at, { ...version, gen: version.gen + 1 }, mutant) }];
    case 'refused': {
      const refused = applyToRow(state, { op: 'refuse', by: nameOf(at), ...version });
      return [{ name: 'is refused', state: withMachine(refused, at, { process: undefined, journal: undefined }) }];
    }
    default:
      return process.at satisfies never;
  }
}

/** A command begins: it publishes what only this machine has, and adopts what the store has. */
function start(state: ModelState, at: number, mutant: ModelMutant): ModelState {
  let next = state;
  const { copy } = next.machines[at]!;
  const isNewer = (one: SharedSessionVersion): boolean =>
    next.row === undefined || compareSharedSessionVersions(one, next.row) === 'newer';
  if (copy !== undefined && isNewer(copy)) next = applyToRow(next, publish(at, copy), mutant);
  if (next.row === undefined) return next;
  next = adopt(next, at, mutant);
  const { journal } = next.machines[at]!;
  if (journal?.isSealed === true && isNewer(journal)) {
    const { isSealed: _sealed, ...version } = journal;
    next = commit(next, at, version, mutant);
  }
  const { row } = next;
  if (row === undefined || row.gen === 0) return next;
  return withMachine(next, at, { process: { at: 'read', version: versionOf(row) } });
}

function claim(state: ModelState, at: number, version: SharedSessionVersion): ModelState {
  const attempt = `${at}`;
  const { row } = state;
  const claimed = applySharedOperation(
    row,
    { op: 'claim', by: nameOf(at), attempt, leaseMs: 0, ...version },
    Number.MAX_SAFE_INTEGER,
  );
  if (!claimed.applied) {
    determineRefreshClaimObstacle(row, version);
    return withMachine(state, at, { process: undefined });
  }
  const journal = { ...version, gen: version.gen + 1, isSealed: false };
  const left = { ...state.left, refreshes: state.left.refreshes - 1 };
  return withMachine({ ...state, row: timeless(claimed.row), left }, at, {
    journal,
    process: { at: 'claimed', version },
  });
}

function commit(state: ModelState, at: number, version: SharedSessionVersion, mutant: ModelMutant): ModelState {
  const isFenced = mutant.isCommitFencedByLease === true && state.row?.holder !== nameOf(at);
  const next = isFenced ? state : applyToRow(state, publish(at, version), mutant);
  const isStored = next.row !== undefined && compareSharedSessionVersions(next.row, version) === 'same';
  const done = withMachine(next, at, { process: undefined, journal: undefined });
  if (isStored) return withMachine(done, at, { copy: mutant.hasNoCopy === true ? undefined : version });
  if (isFenced) return done;
  // A login or a logout has replaced the session: the grant is revoked.
  return adopt(revoke(done, version.sid), at, mutant);
}

function adopt(state: ModelState, at: number, mutant: ModelMutant): ModelState {
  const { row } = state;
  if (row === undefined) return state;
  const machine = state.machines[at]!;
  const journal = machine.journal?.sid === row.sid ? machine.journal : undefined;
  return withMachine(state, at, { copy: mutant.hasNoCopy === true ? undefined : versionOf(row), journal });
}

function login(state: ModelState, at: number): ModelState {
  const sid = `s${Object.keys(state.server).length}`;
  const epoch = Math.max(knownEpoch(state, at) + 1, state.time + 1);
  const before = state.current;
  const left = { ...state.left, logins: state.left.logins - 1 };
  const server = { ...state.server, [sid]: { gen: 1, isRevoked: false } };
  const next = applyToRow(
    { ...state, server, left, time: state.time + 1, current: sid },
    publish(at, { epoch, sid, gen: 1 }),
  );
  return adopt(before === undefined ? next : revoke(next, before), at, {});
}

function logout(state: ModelState, at: number): ModelState | undefined {
  const { current, row } = state;
  if (current === undefined || row === undefined) return undefined;
  const epoch = Math.max(knownEpoch(state, at) + 1, state.time + 1);
  const left = { ...state.left, logouts: state.left.logouts - 1 };
  const next = { ...state, left, time: state.time + 1, current: undefined };
  return adopt(revoke(applyToRow(next, publish(at, { epoch, sid: `t${epoch}`, gen: 0 })), current), at, {});
}

function kill(state: ModelState, at: number): ModelState {
  const process = state.machines[at]!.process!;
  const left = { ...state.left, kills: state.left.kills - 1 };
  const next = withMachine({ ...state, left }, at, { process: undefined });
  if (process.at === 'sent') return { ...next, orphans: [...next.orphans, process.version] };
  if (process.at === 'answered') return lose(next, process.version.sid, 'W1');
  return process.at === 'received' ? lose(next, process.version.sid, 'W2') : next;
}

/** The machine never runs again, and a new one takes its place. */
function destroy(state: ModelState, at: number): ModelState {
  const left = { ...state.left, destroyed: state.left.destroyed - 1 };
  const killed = state.machines[at]!.process === undefined ? state : kill(state, at);
  const gone = { copy: undefined, journal: undefined, process: undefined };
  const next = withMachine(
    { ...killed, destroyed: state.destroyed + 1, left: { ...left, kills: state.left.kills } },
    at,
    gone,
  );
  const { current } = state;
  if (current === undefined || !hasNewestGrant(state, current) || hasNewestGrant(next, current)) return next;
  return lose(next, current, 'W3');
}

function restore(state: ModelState): ModelState {
  const left = { ...state.left, restores: state.left.restores - 1 };
  const next = { ...state, row: state.backup, backup: undefined, left };
  const { current } = state;
  if (current === undefined || !hasNewestGrant(state, current) || hasNewestGrant(next, current)) return next;
  // A loss only if the machines that saw the newest grant are gone.
  return state.destroyed > 0 ? lose(next, current, 'W4') : next;
}

/** Whether the grant that the server accepts is in the store, in a file of a machine, or with a living process. */
export function hasNewestGrant({ server, row, machines }: ModelState, sid: string): boolean {
  const gen = server[sid]?.gen;
  const is = (version: SharedSessionVersion | undefined): boolean => version?.sid === sid && version.gen === gen;
  return (
    is(row) ||
    machines.some(({ copy, journal, process }) => {
      if (is(copy) || (journal?.isSealed === true && is(journal))) return true;
      const isHeld = process !== undefined && ['answered', 'received', 'sealed'].includes(process.at);
      return isHeld && is({ ...process.version, gen: process.version.gen + 1 });
    })
  );
}

function processRequest(state: ModelState, { sid, gen }: SharedSessionVersion) {
  const session = state.server[sid];
  const isGranted = session !== undefined && !session.isRevoked && session.gen === gen;
  if (!isGranted) return { state, isGranted };
  return { state: { ...state, server: { ...state.server, [sid]: { gen: gen + 1, isRevoked: false } } }, isGranted };
}

function revoke(state: ModelState, sid: string): ModelState {
  const session = state.server[sid];
  if (session === undefined) return state;
  return { ...state, server: { ...state.server, [sid]: { ...session, isRevoked: true } } };
}

function lose(state: ModelState, sid: string, window: LossWindow): ModelState {
  return { ...state, lost: { ...state.lost, [sid]: window } };
}

function applyToRow(state: ModelState, operation: SharedSessionOperation, mutant: ModelMutant = {}): ModelState {
  const { row } = applySharedOperation(state.row, operation, Number.MAX_SAFE_INTEGER);
  const kept = mutant.isRefusalKept === true && row !== undefined && state.row?.refusedGen !== undefined;
  return { ...state, row: timeless(kept ? { ...row, refusedGen: row.gen } : row) };
}

/** Times are left out, so that states that differ in them alone are one. */
function timeless(row: ReferenceRow | undefined): ReferenceRow | undefined {
  return row === undefined ? undefined : { ...row, leaseMs: undefined, intentMs: undefined, refusedMs: undefined };
}

function publish(at: number, version: SharedSessionVersion): SharedSessionOperation {
  return { op: 'commit', by: nameOf(at), event: 'refresh', kid: 'k', record: 'r', ...versionOf(version) };
}

function versionOf({ epoch, sid, gen }: SharedSessionVersion): SharedSessionVersion {
  return { epoch, sid, gen };
}

function knownEpoch({ row, machines }: ModelState, at: number): number {
  return Math.max(row?.epoch ?? 0, machines[at]!.copy?.epoch ?? 0);
}

function nameOf(at: number): string {
  return `m${at}`;
}

function withMachine(state: ModelState, at: number, changes: Partial<ModelMachine>): ModelState {
  return { ...state, machines: state.machines.map((one, other) => (other === at ? { ...one, ...changes } : one)) };
}

export function initialModelState(machines: number, left: FaultBudget): ModelState {
  const version = { epoch: 1, sid: 's0', gen: 1 };
  const empty: ModelMachine = { copy: undefined, journal: undefined, process: undefined };
  const state: ModelState = {
    server: { s0: { gen: 1, isRevoked: false } },
    orphans: [],
    row: undefined,
    backup: undefined,
    machines: Array.from({ length: machines }, () => empty),
    time: 1,
    current: 's0',
    lost: {},
    destroyed: 0,
    left,
  };
  return adopt(applyToRow(state, publish(0, version)), 0, {});
}
