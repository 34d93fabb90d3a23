import { join } from 'node:path';
import { ensureFolder, readTextIfPresent, removeDurably, writeAtomically } from '../platform/files.ts';
import type { Keychain, KeychainUnavailable } from '../platform/host.ts';
import type { DoctorFinding } from './doctor-finding.ts';

export interface KeychainProbeOptions {
  readonly keychain: Keychain;
  /** The command that turns to the file store, in backquotes. */
  readonly fileStoreCommand: string;
  /** Milliseconds an operation may take. */
  readonly limit: number;
  readonly onWaiting: () => void;
  /** An account and a value of their own, so that no session is touched. */
  readonly account: string;
  readonly value: string;
}

/** Writes an item of its own, reads it back and removes it. */
export async function probeKeychain(probe: KeychainProbeOptions): Promise<DoctorFinding> {
  const session = probe.keychain.open({ timeoutMs: probe.limit, onWaiting: probe.onWaiting });
  try {
    const written = await session.write(probe.account, probe.value);
    if (written.kind === 'unavailable') return unavailableFinding(written, probe);
    const read = await session.read(probe.account);
    const removed = await session.remove(probe.account);
    if (read.kind === 'unavailable') return unavailableFinding(read, probe);
    if (removed.kind === 'unavailable') return unavailableFinding(removed, probe);
    if (read.kind === 'absent' || read.value !== probe.value) return unavailableFinding(unreadableItem, probe);
    return { id: 'keychain', status: 'ok', observed: 'an item was written, read back and removed' };
  } finally {
    await session.close();
  }
}

/** The same for the file store, in the folder that holds the sessions. */
export function probeCredentialFolder(folder: string, value: string, write = writeAtomically): DoctorFinding {
  const id = 'credential-file';
  const path = join(folder, `doctor.${process.pid}`);
  try {
    ensureFolder(folder);
    write(path, value);
    const same = readTextIfPresent(path) === value;
    removeDurably(path);
    if (same)
      return {
        id,
        status: 'ok',
        observed: `${folder} can be written; sessions are files of mode 0600, not in the keychain`,
      };
    return {
      id,
      status: 'failed',
      observed: `${folder} gave back other bytes than were written`,
      hint: folderFix(folder),
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { id, status: 'failed', observed: reason, hint: diskFix(error) ?? folderFix(folder) };
  }
}

const unreadableItem = {
  kind: 'unavailable',
  why: 'failed',
  reason: 'what was written could not be read back',
} as const;

function unavailableFinding(
  { why, reason }: KeychainUnavailable,
  { fileStoreCommand: toFile }: KeychainProbeOptions,
): DoctorFinding {
  const hint = keychainHints[why] ?? `${toFile} keeps sessions in files of mode 0600 instead`;
  return { id: 'keychain', status: 'failed', observed: `${keychainStates[why]}: ${reason}`, hint };
}

/** Neither a full disk nor a read-only one becomes writable by owning the folder. */
function diskFix(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'make room on that disk, or point CLOUDCTL_STATE_DIR to another';
  return code === 'EROFS' ? 'point CLOUDCTL_STATE_DIR to a folder that can be written' : undefined;
}

function folderFix(folder: string): string {
  return `make the folder yours: \`mkdir -p ${folder} && chmod 700 ${folder}\``;
}

const keychainStates: Readonly<Record<KeychainUnavailable['why'], string>> = {
  locked: 'it is locked',
  missing: 'there is none on this machine',
  hung: 'it did not answer in time',
  failed: 'it could not be used',
};

/** The others are cured by the file store. */
const keychainHints: Readonly<Partial<Record<KeychainUnavailable['why'], string>>> = {
  locked: 'unlock it (on a server: `gnome-keyring-daemon --unlock`)',
  hung: 'look for an unlock window, or restart the keychain service',
};
