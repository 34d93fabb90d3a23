import { acquireFileLock } from '../platform/file-lock.ts';
import { compareSharedSessionVersions, type EncryptedSharedSession } from '../shared-store/shared-session.ts';
import type { ProfilePaths } from './profile-paths.ts';
import type { DecryptedSharedSession, SharedSessionEncryptor } from './sealed-session.ts';
import {
  readLocalCopyOfSharedSession,
  type SharedCopyWarning,
  type SharedSessionCopy,
  writeLocalCopyOfSharedSession,
} from './shared-copy.ts';
import type { SharedStoreClock } from './shared-store-clock.ts';

/** The copy on this machine, and its content. */
export interface DecryptedLocalSessionCopy {
  readonly copy: SharedSessionCopy | undefined;
  readonly opened: DecryptedSharedSession | undefined;
}

export interface LocalSharedSessionCopyAccess {
  read(): DecryptedLocalSessionCopy;
  /**
   * Stores the record as the copy unless the copy is newer, also if another process changes it at the same time. The caller
   * need not have the lock of the profile. Resolves with false, after one warning for each command, if the copy could not be
   * written; without it, this machine cannot publish the record after a restore of the store. Prints
   * `warning`, or one of its own if the copy is a login that the store has not confirmed: its tokens are not revoked.
   */
  keep(
    sealed: EncryptedSharedSession,
    parts?: Pick<SharedSessionCopy, 'isUnconfirmed' | 'hasReplaced'>,
    warning?: SharedCopyWarning,
  ): Promise<boolean>;
  /** Prints the warning of an earlier command that printed no warnings. */
  showUnshownWarning(): Promise<void>;
}

export interface LocalSharedSessionCopyAccessDeps {
  readonly place: ProfilePaths;
  readonly share: string;
  readonly sealer: Pick<SharedSessionEncryptor, 'open'>;
  readonly clock: SharedStoreClock;
  readonly random: (bytes: number) => Uint8Array;
  readonly warn: (text: string) => Promise<void>;
  /** Whether `warn` prints nothing: warnings about tokens that may be valid are then kept for the next command. */
  readonly isSilent?: boolean;
}

export function createLocalSharedSessionCopyAccess({
  place,
  share,
  sealer,
  clock,
  random,
  warn,
  isSilent = false,
}: LocalSharedSessionCopyAccessDeps): LocalSharedSessionCopyAccess {
  let hasWarned = false;
  /**
   * Runs `work` with the lock of the copy, which every writer has from its last comparison to its write. The lock of the
   * profile is not enough: commands that only read the store write the copy without it.
   */
  const withCopyLock = async (work: () => void): Promise<void> => {
    const lock = await acquireFileLock(`${place.sharedCopyFile}.lock`, { waitMs: copyLockWaitMs, clock, random });
    try {
      work();
    } finally {
      lock.release();
    }
  };
  return {
    read() {
      const copy = readLocalCopyOfSharedSession(place, share);
      return { copy, opened: copy === undefined ? undefined : sealer.open(copy) };
    },
    async keep({ epoch, sid, gen, kid, record }, parts, warning) {
      // Another command of this machine may have stored a newer record since this one read the copy.
      const compareWithCopy = (): { readonly canReplace: boolean; readonly due?: SharedCopyWarning | undefined } => {
        const copy = readLocalCopyOfSharedSession(place, share);
        if (copy !== undefined && compareSharedSessionVersions(copy, { epoch, sid, gen }) === 'newer')
          return { canReplace: false };
        const isLoginUnused = copy?.isUnconfirmed === true && copy.sid !== sid && sealer.open(copy).kind === 'record';
        return { canReplace: true, due: isLoginUnused ? 'login_not_used' : (warning ?? copy?.unshownWarning) };
      };
      const { canReplace, due } = compareWithCopy();
      if (!canReplace) return true;
      if (due !== undefined) await warn(warnings[due]);
      try {
        await withCopyLock(() => {
          // The same may have happened while the warning was printed or the lock was awaited.
          const now = compareWithCopy();
          if (!now.canReplace) return;
          const unshown = now.due !== undefined && (isSilent || now.due !== due) ? { unshownWarning: now.due } : {};
          const clockOffset = clock.offset() ?? 0;
          const version = { share, epoch, sid, gen, kid, record };
          writeLocalCopyOfSharedSession(place, { ...version, clockOffset, ...parts, ...unshown });
        });
        return true;
      } catch (error) {
        if (!hasWarned) {
          const reason = error instanceof Error ? error.message : String(error);
          await warn(`could not write the copy of the session, which would repair a restored store: ${reason}`);
        }
        hasWarned = true;
        return false;
      }
    },
    async showUnshownWarning() {
      const due = isSilent ? undefined : readLocalCopyOfSharedSession(place, share)?.unshownWarning;
      if (due === undefined) return;
      await warn(warnings[due]);
      try {
        await withCopyLock(() => {
          // Another command of this machine may have stored a newer record while the warning was printed.
          const { unshownWarning, ...rest } = readLocalCopyOfSharedSession(place, share) ?? {};
          if (unshownWarning === due && 'sid' in rest) writeLocalCopyOfSharedSession(place, rest);
        });
      } catch {
        // The next command repeats the warning.
      }
    },
  };
}

/** A writer has the lock for milliseconds, unless its process was stopped. */
const copyLockWaitMs = 2_000;

const warnings: Readonly<Record<SharedCopyWarning, string>> = {
  session_not_revoked:
    'the shared store has the login of this machine that it did not confirm before; the session that the login replaced was not revoked, so its tokens may be valid: revoke the application in the control panel, then log in again',
  login_not_used:
    'the login of this machine that the shared store did not confirm is not used any more; its tokens, or those of the session before it, may be valid: revoke the application in the control panel',
  tokens_not_stored:
    'another login or logout replaced the session before the shared store had the newest tokens of this machine; these were not revoked and may be valid: revoke the application in the control panel, then log in again',
};
