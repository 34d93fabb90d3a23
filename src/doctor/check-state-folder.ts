import { CliError } from '../base/errors.ts';
import { tryAcquireFileLock } from '../platform/file-lock.ts';
import { requireOwnFolder } from '../platform/own-folder.ts';
import { buildFailedDoctorFinding, type DoctorFinding } from './doctor-finding.ts';

/** Checks that the state folder belongs to the user alone and that its files can be locked, which a token refresh requires. */
export function checkStateFolder(
  stateFolder: string,
  { folder, lock }: { readonly folder: string; readonly lock: string },
): DoctorFinding {
  const id = 'state-folder';
  try {
    for (const one of [stateFolder, folder]) requireOwnFolder(one);
    const held = tryAcquireFileLock(lock);
    held?.release();
    const now = held === undefined ? '; another cloudctl process holds the lock' : '';
    return { id, status: 'ok', observed: `${folder}: locks work${now}` };
  } catch (error) {
    if (error instanceof CliError) return buildFailedDoctorFinding(id, error);
    const observed = error instanceof Error ? error.message : String(error);
    return { id, status: 'failed', observed, hint: 'set CLOUDCTL_STATE_DIR to a folder that you own' };
  }
}
