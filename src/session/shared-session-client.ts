import type { Secret } from '../base/secret.ts';
import type { ProfileReference } from '../config/settings.ts';
import type { Signals } from '../platform/host.ts';
import {
  compareSharedSessionVersions,
  type EncryptedSharedSession,
  type SharedSessionEntry,
  type SharedSessionOperation,
  type SharedSessionOperationResult,
  type SharedSessionStore,
} from '../shared-store/shared-session.ts';
import { catchSharedStoreUnavailable } from './catch-shared-store-unavailable.ts';
import { type RefreshClaimTiming, refreshClaimTiming } from './claim-token-refresh.ts';
import {
  commitNewSharedSessionEpoch,
  commitSharedSessionRefresh,
  listenForCommitInterruption,
  type NewSharedSessionEpoch,
} from './commit-shared-session-refresh.ts';
import {
  type CredentialRecord,
  computeTokenRefreshMarginSeconds,
  computeTokenSecondsLeft,
  decodeCredentialRecord,
} from './credential-record.ts';
import type {
  ConditionalCredentialWriteResult,
  CredentialItemReadResult,
  CredentialItemWriteResult,
} from './credential-store.ts';
import { createLocalSharedSessionCopyAccess, type DecryptedLocalSessionCopy } from './local-shared-session-copy.ts';
import { findSharedSessionReplacementFailure, planSharedSessionEpoch } from './plan-shared-session-epoch.ts';
import type { ProfilePaths } from './profile-paths.ts';
import type { SharedStoreUnavailable } from './refresh-claim.ts';
import type { RefreshJournal } from './refresh-journal.ts';
import { isReadableSharedSession, type SharedSessionEncryptor } from './sealed-session.ts';
import type { SharedCopyWarning, SharedSessionCopy } from './shared-copy.ts';
import { buildSharedReadResult, findSharedRecordFailure } from './shared-record-result.ts';
import type { SharedStoreClock } from './shared-store-clock.ts';
import { readJournaledOrStoredCredentialRecord } from './stored-session.ts';

export interface SharedSessionClientDeps {
  readonly profile: ProfileReference;
  readonly place: ProfilePaths;
  readonly share: string;
  readonly store: SharedSessionStore;
  readonly location: string;
  readonly sealer: SharedSessionEncryptor;
  readonly journal: RefreshJournal;
  readonly clock: SharedStoreClock;
  readonly machine: () => string;
  readonly random: (bytes: number) => Uint8Array;
  readonly warn: (text: string) => Promise<void>;
  readonly isSilent?: boolean;
  readonly timing?: RefreshClaimTiming;
  /** A signal ends the repetition of the commit of a login or a logout. */
  readonly signals?: Signals;
}

/** The session in the shared store, together with the copy on this machine. */
export interface SharedSessionClient {
  /** Runs an operation, and sets the clock to the time of the store. Throws the error of the store. */
  run(operation: SharedSessionOperation): Promise<SharedSessionOperationResult>;
  /**
   * The newer record of the store and the local copy. If the copy is newer, it is first written to the store. With
   * `mayUseCopy`, the copy is returned without a request to the store as long as its access token is valid. If the store
   * cannot be reached, the copy is returned with a warning; with `requireConfirmed` not if the store has not confirmed it,
   * and with `requireStore` not at all.
   */
  read(options: {
    readonly mayUseCopy: boolean;
    readonly requireConfirmed?: boolean;
    readonly requireStore?: boolean;
  }): Promise<CredentialItemReadResult>;
  /** The record of the copy; undefined if there is none, or after a logout. */
  knownRecord(): CredentialRecord | undefined;
  /** Stores the record of a login, with a new epoch. */
  writeLogin(value: Secret): Promise<CredentialItemWriteResult>;
  /** Ends the session on all machines: the tombstone stays in the store. */
  writeTombstone(): Promise<CredentialItemWriteResult>;
  commit(next: CredentialRecord, isRefresh: boolean): Promise<ConditionalCredentialWriteResult>;
  /** Why this machine cannot decrypt the row that the store returned last; undefined if it can. */
  findFailureOfLastRow(): SharedStoreUnavailable | undefined;
  /** Why a login could not replace the row that the store returned last. */
  findLoginFailure(): SharedStoreUnavailable | undefined;
}

export function createSharedSessionClient(deps: SharedSessionClientDeps): SharedSessionClient {
  const { profile, store, location, sealer, journal, clock } = deps;
  let activeKid: string | undefined;
  let lastRow: SharedSessionEntry | undefined;

  const run = async (operation: SharedSessionOperation): Promise<SharedSessionOperationResult> => {
    const snapshot = await store.run(operation);
    clock.set(snapshot.nowMs);
    lastRow = snapshot.row;
    activeKid = lastRow?.activeKid ?? activeKid;
    return snapshot;
  };
  const local = createLocalSharedSessionCopyAccess(deps);
  /**
   * The key for a new record: the one that the store names, unless this machine knows a record with a newer one. A store that
   * names a replaced key again does not get records that a machine excluded by the replacement can decrypt.
   */
  const currentKid = (): string | undefined => sealer.findNewestKid([activeKid, local.read().copy?.kid]);
  const { commitMs } = deps.timing ?? refreshClaimTiming;
  const commitDeps = { run, location, machine: deps.machine, clock, commitMs };
  const publishSealed = (sealed: EncryptedSharedSession): Promise<SharedSessionOperationResult> =>
    run({ op: 'commit', by: deps.machine(), event: 'publish', ...sealed });

  /**
   * Writes the local copy to the store if the copy is newer than the row of the store. A copy that cannot be decrypted is not
   * written, because its keys may have been replaced. @returns the row of the store afterwards
   */
  const publish = async (
    row: SharedSessionEntry | undefined,
    { copy, opened }: DecryptedLocalSessionCopy,
  ): Promise<SharedSessionEntry | undefined> => {
    if (copy === undefined || !isReadableSharedSession(opened) || !isNewer(copy, row)) return row;
    const { epoch, sid, gen, kid, record } = copy;
    return (await publishSealed({ epoch, sid, gen, kid, record })).row;
  };

  /** Stores the row of the store, which this machine can decrypt, as the local copy unless the copy is newer. */
  const adopt = async (row: SharedSessionEntry, { copy, opened }: DecryptedLocalSessionCopy): Promise<void> => {
    const order = copy === undefined ? 'newer' : compareSharedSessionVersions(row, copy);
    const hasNewerKey = row.kid !== copy?.kid && sealer.findNewestKid([row.kid, copy?.kid]) === row.kid;
    const isUnchanged = order === 'same' && !hasNewerKey && copy?.isUnconfirmed !== true;
    // The row is older than the copy if the store did not accept the copy, or if the key of the copy is missing here.
    if (order === 'older' || isUnchanged) return;
    await local.keep(row, {}, findWarningOfReplacedCopy(row, { copy, opened }, journal));
    if (copy !== undefined && copy.sid !== row.sid) journal.removeSession(copy.sid);
  };

  const findFailure = (row: SharedSessionEntry | undefined): SharedStoreUnavailable | undefined =>
    row === undefined ? undefined : findSharedRecordFailure(sealer.open(row), row.kid, profile);

  const readStore = async (known: DecryptedLocalSessionCopy): Promise<CredentialItemReadResult> => {
    const { copy, opened: ofCopy } = known;
    const { row: before } = await run({ op: 'read' });
    // A login or logout that the store has not confirmed must not replace a session that this machine could not revoke.
    if (copy?.isUnconfirmed === true && before !== undefined && copy.sid !== before.sid) {
      const ofRow = sealer.open(before);
      if (ofRow.kind === 'unknown_key') return buildSharedReadResult(ofRow, before.kid, profile);
    }
    const row = await publish(before, known);
    if (copy !== undefined && isReadableSharedSession(ofCopy) && isNewer(copy, row)) {
      await deps.warn(`${location} has not stored the newer session that this machine knows, which is used`);
      return buildSharedReadResult(ofCopy, copy.kid, profile);
    }
    if (row === undefined) return { kind: 'absent' };
    const opened = sealer.open(row);
    if (isReadableSharedSession(opened)) await adopt(row, known);
    return buildSharedReadResult(opened, row.kid, profile);
  };

  const writeNewEpoch = async (
    event: NewSharedSessionEpoch['event'],
    content: Omit<CredentialRecord, 'epoch'> | 'tombstone',
  ): Promise<CredentialItemWriteResult> => {
    const plan = planSharedSessionEpoch({ ...deps, run, readCopy: local.read, currentKid, adopt }, event, content);
    const { interruption, stop } = listenForCommitInterruption(deps.signals);
    return commitNewSharedSessionEpoch(commitDeps, { ...plan, keep: local.keep, interruption }).finally(stop);
  };

  return {
    run,
    findFailureOfLastRow: () => findFailure(lastRow),
    findLoginFailure: () =>
      lastRow && findSharedSessionReplacementFailure(lastRow, 'login', { sealer, profile, nowMs: clock.now() }),
    knownRecord() {
      const { opened } = local.read();
      return opened?.kind === 'record' ? opened.record : undefined;
    },
    async read({ mayUseCopy, requireConfirmed = false, requireStore = false }) {
      await local.showUnshownWarning();
      const known = local.read();
      const { opened: ofCopy } = known;
      if (mayUseCopy && ofCopy?.kind === 'record') {
        const left = computeTokenSecondsLeft(ofCopy.record, clock.now());
        if (left > computeTokenRefreshMarginSeconds(ofCopy.record)) return buildSharedReadResult(ofCopy, '', profile);
      }
      const read = await catchSharedStoreUnavailable(location, () => readStore(known));
      if (read.kind !== 'unavailable' || read.why !== 'shared' || ofCopy?.kind !== 'record') return read;
      if (requireStore || (requireConfirmed && known.copy?.isUnconfirmed === true)) return read;
      await deps.warn(`could not read the shared store (${read.reason}); the session that this machine knows is used`);
      return buildSharedReadResult(ofCopy, '', profile);
    },
    async writeLogin(value) {
      const record = decodeCredentialRecord(value.reveal());
      if (record === undefined) throw new Error('the record of the login is damaged');
      return writeNewEpoch('login', record);
    },
    writeTombstone: () => writeNewEpoch('logout', 'tombstone'),
    async commit(next, isRefresh) {
      const { epoch = 0, sid, gen } = next;
      const sealed = sealer.seal({ epoch, sid, gen }, next, currentKid());
      const result = isRefresh
        ? await commitSharedSessionRefresh(commitDeps, sealed)
        : await catchSharedStoreUnavailable(location, () => publishSealed(sealed));
      if ('kind' in result) return result;
      const { applied, row } = result;
      const order = row === undefined ? undefined : compareSharedSessionVersions(row, sealed);
      if (applied || order === 'same') return { kind: 'done', hasCopy: await local.keep(sealed) };
      // The version of a row is proven only by its record, which is encrypted with a key of the share.
      const failure = findFailure(row);
      if (failure !== undefined) return failure;
      if (order === undefined || order === 'older') {
        const reason = `${location} has not stored the record, although the one that it has is older`;
        return { kind: 'unavailable', why: 'shared', reason, isRejected: false };
      }
      return { kind: 'superseded', isEnded: row?.sid !== sid };
    },
  };
}

function isNewer(copy: SharedSessionCopy, row: SharedSessionEntry | undefined): boolean {
  return row === undefined || compareSharedSessionVersions(copy, row) === 'newer';
}

/** The warning about tokens of this machine that no machine revokes when the row replaces the copy. */
function findWarningOfReplacedCopy(
  row: SharedSessionEntry,
  { copy, opened }: DecryptedLocalSessionCopy,
  journal: RefreshJournal,
): SharedCopyWarning | undefined {
  if (copy === undefined || opened?.kind !== 'record') return undefined;
  if (copy.sid === row.sid)
    return copy.isUnconfirmed === true && copy.hasReplaced === true ? 'session_not_revoked' : undefined;
  const { record } = opened;
  // Two logins of the same second have the same epoch; the machine of the other login did not see this one.
  const isUnseen = compareSharedSessionVersions(row, copy) === 'conflict' && copy.isUnconfirmed !== true;
  return isUnseen || readJournaledOrStoredCredentialRecord(journal, record) !== record
    ? 'tokens_not_stored'
    : undefined;
}
