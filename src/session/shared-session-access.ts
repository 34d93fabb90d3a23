import { Secret } from '../secret.ts';
import {
  compareSharedSessionVersions,
  type EncryptedSharedSession,
  type SharedSessionOperation,
  type SharedSessionRow,
  type SharedSessionSnapshot,
  type SharedSessionStore,
} from '../shared-store/shared-session.ts';
import { type RefreshClaimTiming, refreshClaimTiming } from './claim-token-refresh.ts';
import { commitNewEpoch, commitSharedSession, type SharedSessionEpoch } from './commit-shared-session.ts';
import {
  type CredentialRecord,
  computeTokenSecondsLeft,
  decodeCredentialRecord,
  encodeCredentialRecord,
  tokenRefreshMarginSeconds,
} from './credential-record.ts';
import type {
  ConditionalCredentialWriteResult,
  CredentialItemReadResult,
  CredentialItemWriteResult,
} from './credential-store.ts';
import type { ProfilePaths } from './profile-paths.ts';
import type { RefreshJournal } from './refresh-journal.ts';
import type { DecryptedSharedSession, SharedSessionEncryptor } from './sealed-session.ts';
import { readSharedSessionCopy, type SharedSessionCopy, writeSharedSessionCopy } from './shared-copy.ts';
import type { SharedStoreClock } from './shared-store-clock.ts';
import { catchSharedStoreUnavailable } from './shared-store-failure.ts';
import { formatShareJoinCommand } from './suggested-commands.ts';

export interface SharedSessionAccessDeps {
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
  readonly timing?: RefreshClaimTiming;
}

/** The session in the shared store, together with the copy on this machine. */
export interface SharedSessionAccess {
  /** Runs an operation, and sets the clock to the time of the store. Throws the error of the store. */
  run(operation: SharedSessionOperation): Promise<SharedSessionSnapshot>;
  /**
   * The newer record of the store and the local copy. If the copy is newer, it is first written to the store. With
   * `mayUseCopy`, the copy is returned without a request to the store as long as its access token is valid. If the store
   * cannot be reached, the copy is returned with a warning.
   */
  read(options: { readonly mayUseCopy: boolean }): Promise<CredentialItemReadResult>;
  /** The record of the copy; undefined if there is none, or after a logout. */
  knownRecord(): CredentialRecord | undefined;
  /** Stores the record of a login, with a new epoch. */
  writeLogin(value: Secret): Promise<CredentialItemWriteResult>;
  /** Ends the session on all machines: the tombstone stays in the store. */
  writeTombstone(): Promise<CredentialItemWriteResult>;
  commit(next: CredentialRecord, isRefresh: boolean): Promise<ConditionalCredentialWriteResult>;
}

export function createSharedSessionAccess(deps: SharedSessionAccessDeps): SharedSessionAccess {
  const { place, share, store, location, sealer, journal, clock } = deps;
  let activeKid: string | undefined;

  const run = async (operation: SharedSessionOperation): Promise<SharedSessionSnapshot> => {
    const snapshot = await store.run(operation);
    clock.set(snapshot.nowMs);
    activeKid = snapshot.row?.activeKid ?? activeKid;
    return snapshot;
  };
  const readCopy = (): KnownCopy => {
    const copy = readSharedSessionCopy(place, share);
    return { copy, opened: copy === undefined ? undefined : sealer.open(copy) };
  };
  /**
   * The key for a new record: the one that the store names, unless this machine knows a record with a newer one. A store that
   * names a replaced key again does not get records that a machine excluded by the replacement can decrypt.
   */
  const currentKid = (): string | undefined =>
    sealer.findNewestKid([activeKid, readSharedSessionCopy(place, share)?.kid]);
  const keep = (sealed: EncryptedSharedSession): void => {
    try {
      // Another command of this machine may have stored a newer record since this one read the copy.
      const copy = readSharedSessionCopy(place, share);
      if (copy !== undefined && compareSharedSessionVersions(copy, sealed) === 'newer') return;
      const { epoch, sid, gen, kid, record } = sealed;
      writeSharedSessionCopy(place, { share, epoch, sid, gen, kid, record, clockOffset: clock.offset() ?? 0 });
    } catch {
      // The store has the record. Without its copy, this machine cannot publish it after a restore of the store.
    }
  };
  const { commitMs } = deps.timing ?? refreshClaimTiming;
  const commitDeps = { run, location, machine: deps.machine, clock, commitMs };
  const publishSealed = (sealed: EncryptedSharedSession): Promise<SharedSessionSnapshot> =>
    run({ op: 'commit', by: deps.machine(), event: 'publish', ...sealed });

  /**
   * Writes the local copy to the store if the copy is newer than the row of the store. A copy that cannot be decrypted is not
   * written, because its keys may have been replaced. @returns the row of the store afterwards
   */
  const publish = async (
    row: SharedSessionRow | undefined,
    { copy, opened }: KnownCopy,
  ): Promise<SharedSessionRow | undefined> => {
    if (copy === undefined || !isReadable(opened) || !isNewer(copy, row)) return row;
    const { epoch, sid, gen, kid, record } = copy;
    return (await publishSealed({ epoch, sid, gen, kid, record })).row;
  };

  /** Stores the row of the store, which this machine can decrypt, as the local copy unless the copy is newer. */
  const adopt = async (row: SharedSessionRow, copy: SharedSessionCopy | undefined): Promise<void> => {
    const order = copy === undefined ? 'newer' : compareSharedSessionVersions(row, copy);
    const hasNewerKey = row.kid !== copy?.kid && sealer.findNewestKid([row.kid, copy?.kid]) === row.kid;
    // The row is older than the copy if the store did not accept the copy, or if the key of the copy is missing here.
    if (order === 'older' || (order === 'same' && !hasNewerKey)) return;
    if (order === 'conflict')
      await deps.warn(
        'the shared store has another session of the same epoch; the session that this machine knew is not used',
      );
    if (copy !== undefined && copy.sid !== row.sid) journal.removeSession(copy.sid);
    keep(row);
  };

  const readStore = async (known: KnownCopy): Promise<CredentialItemReadResult> => {
    const { copy, opened: local } = known;
    const row = await publish((await run({ op: 'read' })).row, known);
    if (copy !== undefined && isReadable(local) && isNewer(copy, row)) {
      await deps.warn(`${location} has not stored the newer session that this machine knows, which is used`);
      return resultOf(local, copy.kid);
    }
    if (row === undefined) return { kind: 'absent' };
    const opened = sealer.open(row);
    if (isReadable(opened)) await adopt(row, copy);
    return resultOf(opened, row.kid);
  };

  const nextEpoch = ({ row, nowMs }: SharedSessionSnapshot): number => {
    const known = Math.max(row?.epoch ?? 0, readSharedSessionCopy(place, share)?.epoch ?? 0);
    return Math.max(known + 1, Math.floor(nowMs / 1000));
  };
  const writeNewEpoch = (
    content: Omit<CredentialRecord, 'epoch'> | 'tombstone',
    event: SharedSessionEpoch['event'],
  ): Promise<CredentialItemWriteResult> => {
    const sid = content === 'tombstone' ? Buffer.from(deps.random(8)).toString('hex') : content.sid;
    const seal = async (): Promise<EncryptedSharedSession> => {
      const epoch = nextEpoch(await run({ op: 'read' }));
      return sealer.seal({ epoch, sid, gen: 1 }, content, currentKid());
    };
    return catchSharedStoreUnavailable(location, () =>
      commitNewEpoch(commitDeps, { event, seal, keep, warn: deps.warn }),
    );
  };

  return {
    run,
    knownRecord() {
      const { opened } = readCopy();
      return opened?.kind === 'record' ? opened.record : undefined;
    },
    async read({ mayUseCopy }) {
      const known = readCopy();
      const { opened: local } = known;
      if (mayUseCopy && local?.kind === 'record') {
        const left = computeTokenSecondsLeft(local.record, clock.now());
        if (left > tokenRefreshMarginSeconds) return resultOf(local, '');
      }
      const read = await catchSharedStoreUnavailable(location, () => readStore(known));
      if (read.kind !== 'unavailable' || read.why !== 'shared' || local?.kind !== 'record') return read;
      await deps.warn(`could not read the shared store (${read.reason}); the session that this machine knows is used`);
      return resultOf(local, '');
    },
    async writeLogin(value) {
      const record = decodeCredentialRecord(value.reveal());
      if (record === undefined) throw new Error('the record of the login is damaged');
      return writeNewEpoch(record, 'login');
    },
    writeTombstone: () => writeNewEpoch('tombstone', 'logout'),
    async commit(next, isRefresh) {
      const { epoch = 0, sid, gen } = next;
      const sealed = sealer.seal({ epoch, sid, gen }, next, currentKid());
      const result = isRefresh
        ? await commitSharedSession(commitDeps, sealed, 'refresh')
        : await catchSharedStoreUnavailable(location, () => publishSealed(sealed));
      if ('kind' in result) return result;
      const { applied, row } = result;
      const order = row === undefined ? undefined : compareSharedSessionVersions(row, sealed);
      if (!applied && order !== 'same')
        return { kind: 'superseded', isEnded: row !== undefined && (row.epoch !== epoch || row.sid !== sid) };
      keep(sealed);
      return { kind: 'done' };
    },
  };
}

/** The copy on this machine, and its content. */
interface KnownCopy {
  readonly copy: SharedSessionCopy | undefined;
  readonly opened: DecryptedSharedSession | undefined;
}

function isReadable(
  opened: DecryptedSharedSession | undefined,
): opened is Extract<DecryptedSharedSession, { kind: 'record' | 'tombstone' }> {
  return opened?.kind === 'record' || opened?.kind === 'tombstone';
}

function isNewer(copy: SharedSessionCopy, row: SharedSessionRow | undefined): boolean {
  return row === undefined || compareSharedSessionVersions(copy, row) === 'newer';
}

function resultOf(opened: DecryptedSharedSession, kid: string): CredentialItemReadResult {
  switch (opened.kind) {
    case 'record':
      return { kind: 'found', value: encodeCredentialRecord(opened.record) };
    case 'tombstone':
      return { kind: 'absent' };
    case 'unknown_key':
      return {
        kind: 'unavailable',
        why: 'shared',
        reason: `the session is encrypted with the key ${kid}, which this machine does not have`,
        hint: (profile) => `give this machine the keys of the share: ${formatShareJoinCommand(profile)}`,
      };
    case 'damaged':
      // The decrypted text is not a session record, so callers report a damaged session.
      return { kind: 'found', value: damaged };
    default:
      return opened satisfies never;
  }
}

const damaged = new Secret('damaged', '[damaged]');
