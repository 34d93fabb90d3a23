import { join } from 'node:path';
import { ensureFolder, readTextIfAny, removeDurably, writeAtomically } from '../platform/files.ts';
import type { Keychain, KeychainUnavailable } from '../platform/host.ts';
import type { DoctorFinding } from './finding.ts';

export interface KeychainProbe {
  readonly keychain: Keychain;
  /** The command that turns to the file store, in backquotes. */
  readonly toFile: string;
  /** Milliseconds an operation may take. */
  readonly limit: number;
  readonly onWaiting: () => void;
  /** An account and a value of their own, so that no session is touched. */
  readonly account: string;
  readonly value: string;
}

/** Writes an item of its own, reads it back and removes it. */
export async function probeKeychain(probe: KeychainProbe): Promise<DoctorFinding> {
  const session = probe.keychain.open({ limit: probe.limit, onWaiting: probe.onWaiting });
  try {
    const written = await session.write(probe.account, probe.value);
    if (written.kind === 'unavailable') return unavailable(written, probe);
    const read = await session.read(probe.account);
    const removed = await session.remove(probe.account);
    if (read.kind === 'unavailable') return unavailable(read, probe);
    if (removed.kind === 'unavailable') return unavailable(removed, probe);
    if (read.kind === 'absent' || read.value !== probe.value) return unavailable(forgetful, probe);
    return { id: 'keychain', status: 'ok', observed: 'an item was written, read back and removed' };
  } finally {
    await session.close();
  }
}

/** The same for the file store, in the folder that holds the sessions. */
export function probeFolder(folder: string, value: string, write = writeAtomically): DoctorFinding {
  const id = 'credential-file';
  const path = join(folder, `doctor.${process.pid}`);
  try {
    ensureFolder(folder);
    write(path, value);
    const same = readTextIfAny(path) === value;
    removeDurably(path);
    if (same)
      return {
        id,
        status: 'ok',
        observed: `${folder} can be written; sessions are files of mode 0600, not in the keychain`,
      };
    return { id, status: 'failed', observed: `${folder} gave back other bytes than were written`, hint: cure(folder) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { id, status: 'failed', observed: reason, hint: otherCure(error) ?? cure(folder) };
  }
}

const forgetful = { kind: 'unavailable', why: 'failed', reason: 'what was written could not be read back' } as const;

function unavailable({ why, reason }: KeychainUnavailable, { toFile }: KeychainProbe): DoctorFinding {
  const hint = hints[why] ?? `${toFile} keeps sessions in files of mode 0600 instead`;
  return { id: 'keychain', status: 'failed', observed: `${states[why]}: ${reason}`, hint };
}

/** Neither a full disk nor a read-only one becomes writable by owning the folder. */
function otherCure(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'make room on that disk, or point CLOUDCTL_STATE_DIR to another';
  return code === 'EROFS' ? 'point CLOUDCTL_STATE_DIR to a folder that can be written' : undefined;
}

function cure(folder: string): string {
  return `make the folder yours: \`mkdir -p ${folder} && chmod 700 ${folder}\``;
}

const states: Readonly<Record<KeychainUnavailable['why'], string>> = {
  locked: 'it is locked',
  missing: 'there is none on this machine',
  hung: 'it did not answer in time',
  failed: 'it could not be used',
};

/** The others are cured by the file store. */
const hints: Readonly<Partial<Record<KeychainUnavailable['why'], string>>> = {
  locked: 'unlock it (on a server: `gnome-keyring-daemon --unlock`)',
  hung: 'look for an unlock window, or restart the keychain service',
};
