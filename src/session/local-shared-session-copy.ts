import { compareSharedSessionVersions, type EncryptedSharedSession } from '../shared-store/shared-session.ts';
import type { ProfilePaths } from './profile-paths.ts';
import type { DecryptedSharedSession, SharedSessionEncryptor } from './sealed-session.ts';
import { readLocalCopyOfSharedSession, type SharedSessionCopy, writeLocalCopyOfSharedSession } from './shared-copy.ts';
import type { SharedStoreClock } from './shared-store-clock.ts';

/** The copy on this machine, and its content. */
export interface DecryptedLocalSessionCopy {
  readonly copy: SharedSessionCopy | undefined;
  readonly opened: DecryptedSharedSession | undefined;
}

export interface LocalSharedSessionCopyAccess {
  read(): DecryptedLocalSessionCopy;
  /**
   * Stores the record as the copy unless the copy is newer. Resolves with false, after one warning for each command, if the
   * copy could not be written; without it, this machine cannot publish the record after a restore of the store. Warns if the
   * copy is a login that the store has not confirmed: its tokens are not revoked.
   */
  keep(
    sealed: EncryptedSharedSession,
    parts?: Pick<SharedSessionCopy, 'isUnconfirmed' | 'hasReplaced'>,
  ): Promise<boolean>;
}

export interface LocalSharedSessionCopyAccessDeps {
  readonly place: ProfilePaths;
  readonly share: string;
  readonly sealer: Pick<SharedSessionEncryptor, 'open'>;
  readonly clock: Pick<SharedStoreClock, 'offset'>;
  readonly warn: (text: string) => Promise<void>;
}

export function createLocalSharedSessionCopyAccess({
  place,
  share,
  sealer,
  clock,
  warn,
}: LocalSharedSessionCopyAccessDeps): LocalSharedSessionCopyAccess {
  let hasWarned = false;
  return {
    read() {
      const copy = readLocalCopyOfSharedSession(place, share);
      return { copy, opened: copy === undefined ? undefined : sealer.open(copy) };
    },
    async keep({ epoch, sid, gen, kid, record }, parts) {
      try {
        // Another command of this machine may have stored a newer record since this one read the copy.
        const copy = readLocalCopyOfSharedSession(place, share);
        if (copy !== undefined && compareSharedSessionVersions(copy, { epoch, sid, gen }) === 'newer') return true;
        const clockOffset = clock.offset() ?? 0;
        writeLocalCopyOfSharedSession(place, { share, epoch, sid, gen, kid, record, clockOffset, ...parts });
        if (copy?.isUnconfirmed === true && copy.sid !== sid && sealer.open(copy).kind === 'record')
          await warn(unusedLoginWarning);
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
  };
}

const unusedLoginWarning =
  'the login of this machine that the shared store did not confirm is not used any more; its tokens, or those of the session before it, may be valid: revoke the application in the control panel';
