import {
  determineRefreshClaimObstacle,
  listMachinesWithUnreportedRefresh,
  refreshLeaseMs,
  type SharedSessionEntry,
  type SharedSessionOperationResult,
  type SharedSessionStore,
} from '../shared-store/shared-session.ts';
import type {
  CredentialVersionOfRefreshClaim,
  RecordedRefreshRefusal,
  RefreshClaim,
  RefreshClaimResult,
  RefreshRefusalWaitResult,
  SharedStoreUnavailable,
} from './refresh-claim.ts';

/** Times in milliseconds. Elapsed time is measured by the greater of two clocks, as in `createSharedStoreClock`. */
export interface RefreshClaimTiming {
  readonly leaseMs: number;
  readonly renewMs: number;
  /** How long to wait for another machine that refreshes, or that may publish its record. */
  readonly waitMs: number;
  /** How long a commit is repeated while the store cannot be reached. */
  readonly commitMs: number;
}

export const refreshClaimTiming: RefreshClaimTiming = {
  leaseMs: refreshLeaseMs,
  renewMs: 5_000,
  waitMs: 45_000,
  commitMs: 35_000,
};

export interface ClaimTokenRefreshDeps {
  readonly store: Pick<SharedSessionStore, 'run'>;
  /** The name of this machine in the store and in messages. */
  readonly machine: string;
  /**
   * Whether the state folder has the file of an earlier refresh without a result, so that an earlier intent of this name is
   * its own. Otherwise that intent is of a copy of the state folder, which may still report.
   */
  readonly hasUnfinishedRefresh: boolean;
  /** Whether the refresh token may be sent once more after it was refused, if no machine may have the next one. */
  readonly maySendRefusedToken: boolean;
  readonly sleep: (ms: number) => Promise<void>;
  readonly elapsed: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly timing?: RefreshClaimTiming;
}

/**
 * Announces the refresh of this session version and takes the lease of the profile's row in the store. The lease only saves
 * requests: if two machines refresh at once, one request is refused, but the session is not lost. If this machine reports no
 * result, other machines find its intent in the store. Throws an error of the store.
 */
export async function claimTokenRefresh(
  deps: ClaimTokenRefreshDeps,
  version: CredentialVersionOfRefreshClaim,
): Promise<Exclude<RefreshClaimResult, SharedStoreUnavailable | { kind: 'claimed' }> | ClaimedRefresh> {
  const { store, machine, timing = refreshClaimTiming } = deps;
  const attempt = Buffer.from(deps.random(8)).toString('hex');
  const { epoch, sid, gen } = version;
  const end = deps.elapsed() + timing.waitMs;
  for (let pauses = 0; ; pauses += 1) {
    const claimedAt = deps.elapsed();
    const snapshot = await store.run({
      op: 'claim',
      epoch,
      sid,
      gen,
      by: machine,
      attempt,
      leaseMs: timing.leaseMs,
    });
    if (snapshot.applied)
      return { kind: 'claimed', claim: createClaim(deps, { version, attempt, claimedAt }, snapshot.row) };
    const obstacle = determineRefreshClaimObstacle(snapshot.row, version);
    if (obstacle === 'changed') return { kind: 'changed' };
    if (obstacle === 'refused') {
      const refusal = await waitAfterRefusal(deps, version, await reportNothing(deps, version, snapshot));
      const isRepeated = deps.maySendRefusedToken && refusal.kind === 'refused' && refusal.machines.length === 0;
      return isRepeated ? { kind: 'claimed', claim: createClaimOfRefusedToken(refusal) } : refusal;
    }
    if (deps.elapsed() >= end) return { kind: 'busy', holder: snapshot.row?.holder ?? 'another machine' };
    await deps.sleep(pauseMs(deps, pauses));
  }
}

interface ClaimedRefresh {
  readonly kind: 'claimed';
  readonly claim: Omit<RefreshClaim, 'refuse'> & { refuse(): Promise<RecordedRefusal> };
}

interface RecordedRefusal extends RecordedRefreshRefusal {
  readonly wait: () => Promise<RefreshRefusalWaitResult>;
}

interface ClaimState {
  readonly version: CredentialVersionOfRefreshClaim;
  readonly attempt: string;
  readonly claimedAt: number;
}

function createClaim(
  deps: ClaimTokenRefreshDeps,
  { version, attempt, claimedAt }: ClaimState,
  row: SharedSessionEntry | undefined,
): ClaimedRefresh['claim'] {
  const { store, machine, timing = refreshClaimTiming } = deps;
  const { leaseMs } = timing;
  const ignoreError = (): undefined => undefined;
  return {
    isInDoubt: row?.previousBy !== undefined,
    async confirm() {
      if (deps.elapsed() - claimedAt < leaseMs / 2) return true;
      const renewed = await store.run({ op: 'renew', attempt, leaseMs }).catch(ignoreError);
      return renewed?.applied ?? true;
    },
    keepAlive() {
      // A lease that could not be extended costs at most one refused request of another machine.
      const timer = setInterval(
        () => void store.run({ op: 'renew', attempt, leaseMs }).catch(ignoreError),
        timing.renewMs,
      );
      timer.unref();
      return () => clearInterval(timer);
    },
    async release(isUnsent) {
      // Without a release, the lease ends by itself.
      await store.run({ op: 'release', attempt, unsent: isUnsent }).catch(ignoreError);
    },
    async refuse() {
      const { epoch, sid, gen } = version;
      const { applied, row: current } = await store.run({ op: 'renew', attempt, leaseMs });
      const recorded = (snapshot: SharedSessionOperationResult): RecordedRefusal => ({
        kind: 'recorded',
        wait: () => waitAfterRefusal(deps, version, snapshot),
      });
      const hasNamesakeClaimed = !applied && current?.holder === machine;
      if (!hasNamesakeClaimed && !hasNamesake(deps, row))
        return recorded(await store.run({ op: 'refuse', by: machine, epoch, sid, gen }));
      // A refusal by this name would end the wait of all machines for the namesake.
      await store.run({ op: 'release', attempt, unsent: false }).catch(ignoreError);
      return recorded(await store.run({ op: 'read' }));
    },
  };
}

/**
 * A claim without an intent in the store: whatever becomes of the request, no other machine sends the token, because its refusal
 * is recorded.
 */
function createClaimOfRefusedToken(refusal: RefreshRefusalWaitResult): ClaimedRefresh['claim'] {
  return {
    isInDoubt: true,
    confirm: async () => true,
    keepAlive: () => () => undefined,
    release: async () => undefined,
    refuse: async () => ({ kind: 'recorded', wait: async () => refusal }),
  };
}

/**
 * If this machine began a refresh of the refused generation, the others no longer wait for it: its journal has no response.
 * Without a file of that refresh, the intent is of a machine with the same name, which may still report.
 */
async function reportNothing(
  { store, machine, hasUnfinishedRefresh }: ClaimTokenRefreshDeps,
  { epoch, sid, gen }: CredentialVersionOfRefreshClaim,
  snapshot: SharedSessionOperationResult,
): Promise<SharedSessionOperationResult> {
  const { row } = snapshot;
  const hasIntent = row !== undefined && listMachinesWithUnreportedRefresh(row).includes(machine);
  return hasIntent && hasUnfinishedRefresh ? store.run({ op: 'refuse', by: machine, epoch, sid, gen }) : snapshot;
}

/**
 * Waits for the machines that began a refresh of the refused generation and have not reported, until `waitMs` after the refusal.
 * The wait also ends by the clock of this machine, because the clock of the store may be set back.
 */
async function waitAfterRefusal(
  deps: ClaimTokenRefreshDeps,
  version: CredentialVersionOfRefreshClaim,
  first: SharedSessionOperationResult,
): Promise<RefreshRefusalWaitResult> {
  const { store, timing = refreshClaimTiming } = deps;
  const end = deps.elapsed() + timing.waitMs;
  let snapshot = first;
  for (let pauses = 0; ; pauses += 1) {
    const { row, nowMs } = snapshot;
    if (row === undefined || determineRefreshClaimObstacle(row, version) === 'changed') return { kind: 'changed' };
    const machines = listMachinesWithUnreportedRefresh(row);
    // The time of a refusal stays in the row when a newer record is stored.
    const refusedMs = row.refusedGen === row.gen ? (row.refusedMs ?? nowMs) : nowMs;
    const isOver = nowMs >= refusedMs + timing.waitMs || deps.elapsed() >= end;
    if (machines.length === 0 || isOver) return { kind: 'refused', machines, sinceMs: row.intentMs };
    await deps.sleep(pauseMs(deps, pauses));
    snapshot = await store.run({ op: 'read' });
  }
}

/** Whether another machine with the same name, whose state folder is a copy, announced an earlier refresh. */
function hasNamesake(
  { machine, hasUnfinishedRefresh }: ClaimTokenRefreshDeps,
  row: SharedSessionEntry | undefined,
): boolean {
  return !hasUnfinishedRefresh && row?.previousBy?.split(',').includes(machine) === true;
}

/** The pause before the next attempt in milliseconds: at first from 25 to 75, then longer each time, at most 500. */
function pauseMs({ random }: Pick<ClaimTokenRefreshDeps, 'random'>, pauses: number): number {
  const jitter = 25 + (50 * (random(1)[0] ?? 0)) / 255;
  return Math.min(500, jitter * 1.2 ** pauses);
}
