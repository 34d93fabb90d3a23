import { join } from 'node:path';
import { CliError } from '../../base/errors.ts';
import { quoteShellArg } from '../../base/text.ts';
import { ensureFolder, removeDurably } from '../../platform/files.ts';
import type { Keychain, KeychainUnavailable } from '../../platform/host.ts';
import { tryAcquire } from '../../platform/locks.ts';
import { requireOwnFolder } from '../../platform/own-folder.ts';
import { InsecureFileError, readSecretFile, requireReplaceable, writeSecretFile } from '../../platform/secret-file.ts';
import { type Finding, failedFinding } from './finding.ts';

/** Checks that the state folder belongs to the user alone and that its files can be locked, which a token refresh requires. */
export function checkStateFolder(
  stateFolder: string,
  { folder, lock }: { readonly folder: string; readonly lock: string },
): Finding {
  const id = 'state-folder';
  try {
    for (const one of [stateFolder, folder]) requireOwnFolder(one);
    const held = tryAcquire(lock);
    held?.release();
    const now = held === undefined ? '; another cloudctl process holds the lock' : '';
    return { id, status: 'ok', observed: `${folder}: locks work${now}` };
  } catch (error) {
    if (error instanceof CliError) return failedFinding(id, error);
    const observed = error instanceof Error ? error.message : String(error);
    return { id, status: 'failed', observed, hint: 'set CLOUDCTL_STATE_DIR to a folder that you own' };
  }
}

interface KeychainProbeOptions {
  readonly keychain: Keychain;
  /** The command that selects the file store, in backquotes. */
  readonly fileStoreCommand: string;
  /** Time limit of one keychain operation, in milliseconds. */
  readonly limit: number;
  readonly onWaiting: () => void;
  /** The name of the test item, which no session uses. */
  readonly account: string;
  readonly value: string;
}

/** Writes a test item to the keychain, reads it back and removes it. */
export async function probeKeychain(probe: KeychainProbeOptions): Promise<Finding> {
  const session = probe.keychain.open({ timeoutMs: probe.limit, onWaiting: probe.onWaiting });
  try {
    const written = await session.write(probe.account, probe.value);
    if (written.kind === 'unavailable') return unavailableFinding(written, probe);
    const read = await session.read(probe.account);
    const removed = await session.remove(probe.account);
    if (read.kind === 'unavailable') return unavailableFinding(read, probe);
    if (removed.kind === 'unavailable') return unavailableFinding(removed, probe);
    if (read.kind === 'absent' || read.value !== probe.value) return unavailableFinding(unreadableItem, probe);
    return { id: 'keychain', status: 'ok', observed: 'a test item was written, read back and removed' };
  } finally {
    await session.close();
  }
}

/** Writes, reads and removes a test file in the folder of the file store, and checks owner and mode of the session file. */
export function probeFolder(
  {
    folder,
    credentialFile,
    probeFile,
  }: { readonly folder: string; readonly credentialFile: string; readonly probeFile: string },
  value: string,
): Finding {
  const id = 'credential-file';
  const failed = (observed: string, hint: string): Finding => ({ id, status: 'failed', observed, hint });
  const path = join(folder, `doctor.${process.pid}`);
  try {
    ensureFolder(folder);
    const isStored = readSecretFile(credentialFile) !== undefined;
    writeSecretFile(path, value);
    const same = readSecretFile(path) === value;
    removeDurably(path);
    if (!same) return failed(`${folder} returned other bytes than were written`, folderFix(folder));
    // A refresh must be able to replace the session file.
    requireReplaceable(credentialFile, value.length, probeFile);
    const file = isStored ? `${credentialFile} has mode 0600` : 'a login writes a file with mode 0600';
    return { id, status: 'ok', observed: `${folder} is writable; ${file}; the keychain is not used` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return failed(reason, error instanceof InsecureFileError ? error.hint : (diskFix(error) ?? folderFix(folder)));
  }
}

const unreadableItem = {
  kind: 'unavailable',
  why: 'failed',
  reason: 'could not read back the test item',
} as const;

function unavailableFinding(
  { why, reason }: KeychainUnavailable,
  { fileStoreCommand: toFile }: KeychainProbeOptions,
): Finding {
  const hint = keychainHints[why] ?? `store sessions in files with mode 0600: ${toFile}`;
  return { id: 'keychain', status: 'failed', observed: `${keychainStates[why]}: ${reason}`, hint };
}

/** After a disk error (full or read-only) the hint differs from the hint for missing permissions. */
function diskFix(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return 'free disk space, or set CLOUDCTL_STATE_DIR to a folder on another disk';
  return code === 'EROFS' ? 'set CLOUDCTL_STATE_DIR to a writable folder' : undefined;
}

function folderFix(folder: string): string {
  const quoted = quoteShellArg(folder);
  return `create the folder with mode 0700: \`mkdir -p ${quoted} && chmod 700 ${quoted}\``;
}

const keychainStates: Readonly<Record<KeychainUnavailable['why'], string>> = {
  locked: 'the keychain is locked',
  missing: 'this machine has no keychain',
  hung: 'the keychain did not respond in time',
  failed: 'could not use the keychain',
};

/** Hints by the reason why the keychain is unavailable; for a reason without an entry, the hint is to use the file store. */
const keychainHints: Readonly<Partial<Record<KeychainUnavailable['why'], string>>> = {
  locked: 'unlock the keychain (on a server: `gnome-keyring-daemon --unlock`)',
  hung: 'unlock the keychain in its window, or restart the keychain service',
};
