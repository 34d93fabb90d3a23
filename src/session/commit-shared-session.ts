import {
  compareSharedSessionVersions,
  type EncryptedSharedSession,
  type SharedSessionEvent,
  type SharedSessionOperation,
  type SharedSessionSnapshot,
} from '../shared-store/shared-session.ts';
import type { CredentialItemWriteResult } from './credential-store.ts';
import type { SharedStoreUnavailable } from './refresh-claim.ts';
import type { SharedStoreClock } from './shared-store-clock.ts';
import { catchSharedStoreUnavailable } from './shared-store-failure.ts';

export interface CommitSharedSessionDeps {
  readonly run: (operation: SharedSessionOperation) => Promise<SharedSessionSnapshot>;
  readonly location: string;
  readonly machine: () => string;
  readonly clock: Pick<SharedStoreClock, 'elapsed' | 'sleep'>;
  /** How long a commit is repeated, in milliseconds. */
  readonly commitMs: number;
}

/**
 * Repeats a commit that failed, at most for `commitMs`. A refresh is repeated after every failure, another commit if an
 * attempt may have been applied.
 */
export async function commitSharedSession(
  { run, location, machine, clock, commitMs }: CommitSharedSessionDeps,
  sealed: EncryptedSharedSession,
  event: SharedSessionEvent,
): Promise<SharedSessionSnapshot | SharedStoreUnavailable> {
  const end = clock.elapsed() + commitMs;
  for (let isRejected = true; ; await clock.sleep(250)) {
    const result = await catchSharedStoreUnavailable(location, () =>
      run({ op: 'commit', by: machine(), event, ...sealed }),
    );
    if (!('kind' in result)) return result;
    isRejected &&= result.isRejected;
    if (clock.elapsed() >= end || (isRejected && event !== 'refresh')) return { ...result, isRejected };
  }
}

/** A new epoch of the session, which a login or a logout begins. */
export interface SharedSessionEpoch {
  readonly event: 'login' | 'logout';
  /** An epoch that is greater than every known one, with the session encrypted for it. */
  readonly seal: () => Promise<EncryptedSharedSession>;
  /** Keeps the session as the copy of this machine. */
  readonly keep: (sealed: EncryptedSharedSession) => void;
  readonly warn: (text: string) => Promise<void>;
}

/**
 * Stores a new epoch. Another login or logout at the same moment may write the same epoch number, so several are tried. Throws
 * the error of the store if nothing was sent.
 */
export async function commitNewEpoch(
  deps: CommitSharedSessionDeps,
  { event, seal, keep, warn }: SharedSessionEpoch,
): Promise<CredentialItemWriteResult> {
  for (let attempt = 1; ; attempt += 1) {
    const sealed = await seal();
    const result = await commitSharedSession(deps, sealed, event);
    if ('kind' in result) {
      if (result.isRejected) return result;
      // The store may have the record, so its tokens must not be revoked. The copy is published by a later command.
      keep(sealed);
      await warn(`the shared store did not confirm the ${event} (${result.reason}); this machine keeps it`);
      return { kind: 'done' };
    }
    const { applied, row } = result;
    if (applied || (row !== undefined && compareSharedSessionVersions(row, sealed) === 'same')) {
      keep(sealed);
      return { kind: 'done' };
    }
    if (attempt === 5) {
      const reason = `another login or logout is stored (epoch ${row?.epoch ?? 'unknown'})`;
      return { kind: 'unavailable', why: 'shared', reason };
    }
  }
}
