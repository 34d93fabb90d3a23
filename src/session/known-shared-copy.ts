import { compareSharedSessionVersions, type EncryptedSharedSession } from '../shared-store/shared-session.ts';
import type { ProfilePaths } from './profile-paths.ts';
import type { DecryptedSharedSession, SharedSessionEncryptor } from './sealed-session.ts';
import { readSharedSessionCopy, type SharedSessionCopy, writeSharedSessionCopy } from './shared-copy.ts';
import type { SharedStoreClock } from './shared-store-clock.ts';

/** The copy on this machine, and its content. */
export interface KnownSharedCopy {
  readonly copy: SharedSessionCopy | undefined;
  readonly opened: DecryptedSharedSession | undefined;
}

export interface LocalSharedSessionCopyAccess {
  read(): KnownSharedCopy;
  /**
   * Stores the record as the copy unless the copy is newer. Resolves with false, after one warning for each command, if the
   * copy could not be written; without it, this machine cannot publish the record after a restore of the store.
   */
  keep(sealed: EncryptedSharedSession, parts?: Pick<SharedSessionCopy, 'isUnconfirmed'>): Promise<boolean>;
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
      const copy = readSharedSessionCopy(place, share);
      return { copy, opened: copy === undefined ? undefined : sealer.open(copy) };
    },
    async keep({ epoch, sid, gen, kid, record }, parts) {
      try {
        // Another command of this machine may have stored a newer record since this one read the copy.
        const copy = readSharedSessionCopy(place, share);
        if (copy !== undefined && compareSharedSessionVersions(copy, { epoch, sid, gen }) === 'newer') return true;
        const clockOffset = clock.offset() ?? 0;
        writeSharedSessionCopy(place, { share, epoch, sid, gen, kid, record, clockOffset, ...parts });
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
