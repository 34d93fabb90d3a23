import type { ProfileReference } from '../config/settings.ts';
import type {
  SharedSessionEntry,
  SharedSessionOperation,
  SharedSessionOperationResult,
} from '../shared-store/shared-session.ts';
import type { NewSharedSessionEpoch } from './commit-shared-session-refresh.ts';
import type { CredentialRecord } from './credential-record.ts';
import { findSessionToReplace } from './find-session-to-replace.ts';
import type { DecryptedLocalSessionCopy } from './local-shared-session-copy.ts';
import type { SharedStoreUnavailable } from './refresh-claim.ts';
import type { RefreshJournal } from './refresh-journal.ts';
import type { SharedSessionEncryptor } from './sealed-session.ts';
import { findSharedRecordFailure } from './shared-record-result.ts';
import { formatCommandForProfile } from './suggested-commands.ts';

export interface SharedSessionEpochDeps {
  readonly profile: ProfileReference;
  readonly sealer: SharedSessionEncryptor;
  readonly journal: RefreshJournal;
  readonly random: (bytes: number) => Uint8Array;
  readonly run: (operation: SharedSessionOperation) => Promise<SharedSessionOperationResult>;
  readonly readCopy: () => DecryptedLocalSessionCopy;
  /** The id of the key for new records. */
  readonly currentKid: () => string | undefined;
  /** Keeps the row, which this machine can decrypt, as the copy of this machine. */
  readonly adopt: (row: SharedSessionEntry, known: DecryptedLocalSessionCopy) => Promise<void>;
}

/**
 * A machine stores an epoch that is at most one greater than the time of the store, or than a known epoch. A greater epoch of a
 * row that cannot be decrypted was not stored by a machine, and a session with an even greater one might not be readable.
 */
const maxEpochAfterStoreTimeSeconds = 10 * 366 * 86_400;

/**
 * Why this machine must not replace the row with a login or a logout: it could not revoke the session, a machine that was
 * excluded could read the new session, or the epoch of the row is impossible. Undefined if it may.
 * @param nowMs the time of the store
 */
export function findSharedSessionReplacementFailure(
  row: SharedSessionEntry,
  event: NewSharedSessionEpoch['event'],
  { sealer, profile, nowMs }: Pick<SharedSessionEpochDeps, 'sealer' | 'profile'> & { readonly nowMs: number },
): SharedStoreUnavailable | undefined {
  const opened = sealer.open(row);
  if (opened.kind === 'damaged' && row.epoch > nowMs / 1000 + maxEpochAfterStoreTimeSeconds) {
    const reason = `the row of the profile in the store is damaged: its epoch ${row.epoch} is more than ten years after the time of the store`;
    return { kind: 'unavailable', why: 'shared', reason, hint: hintOfImpossibleEpoch, isRejected: true };
  }
  if (opened.kind === 'unknown_key') return findSharedRecordFailure(opened, row.kid, profile);
  if (event === 'logout') return undefined;
  const withActiveKey = sealer.open({ ...row, kid: row.activeKid });
  return withActiveKey.kind === 'unknown_key'
    ? findSharedRecordFailure(withActiveKey, row.activeKid, profile)
    : undefined;
}

/** What a login or a logout stores, and what it does if it does not store anything. */
export function planSharedSessionEpoch(
  { profile, sealer, journal, random, run, readCopy, currentKid, adopt }: SharedSessionEpochDeps,
  event: NewSharedSessionEpoch['event'],
  content: Omit<CredentialRecord, 'epoch'> | 'tombstone',
): Pick<NewSharedSessionEpoch, 'event' | 'prepare' | 'onSuperseded'> {
  const sid = content === 'tombstone' ? Buffer.from(random(8)).toString('hex') : content.sid;
  return {
    event,
    async prepare(sealed) {
      const { row, nowMs } = await run({ op: 'read' });
      const known = readCopy();
      const replaced = findSessionToReplace(row, sealer.open, known, journal);
      if (sealed !== undefined) return { row, sealed, replaced };
      const failure =
        row === undefined ? undefined : findSharedSessionReplacementFailure(row, event, { sealer, profile, nowMs });
      if (failure !== undefined) return failure;
      if (event === 'logout' && row !== undefined && replaced === undefined && sealer.open(row).kind === 'tombstone') {
        await adopt(row, known);
        return { kind: 'done', wasEnded: true };
      }
      const epoch = Math.max(Math.max(row?.epoch ?? 0, known.copy?.epoch ?? 0) + 1, Math.floor(nowMs / 1000));
      return { row, sealed: sealer.seal({ epoch, sid, gen: 1 }, content, currentKid()), replaced };
    },
    onSuperseded(row, replaced) {
      const opened = row === undefined ? undefined : sealer.open(row);
      const failure = row && opened && findSharedRecordFailure(opened, row.kid, profile);
      if (failure !== undefined) return failure;
      if (event === 'login') {
        const reason = `another login or logout is stored (epoch ${row?.epoch ?? 'unknown'})`;
        return { kind: 'unavailable', why: 'shared', reason, hint: hintOfSupersededLogin };
      }
      if (opened?.kind === 'tombstone') return { kind: 'done', wasEnded: true };
      // The login that is stored may have revoked the same session already.
      return { kind: 'done', replaced: replaced && { ...replaced, isEndedElsewhere: true } };
    },
  };
}

const hintOfSupersededLogin = (profile: ProfileReference): string =>
  `see the session that is stored: ${formatCommandForProfile(profile, 'auth status')}`;

const hintOfImpossibleEpoch = (profile: ProfileReference): string =>
  `delete it as the owner of the store (PostgreSQL: the row in cloudctl_share.session; Redis: the key cloudctl:{SHARE}:${profile.name}), then run ${formatCommandForProfile(profile, 'auth status --check')} on a machine that has used the session`;
