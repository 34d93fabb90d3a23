import { closeSync, constants, fsyncSync, linkSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createTemporary, ensureFolder, fsyncFolder, listFolder, readText } from '../../platform/files.ts';

/**
 * The session files of one profile in the state folder. The functions are synchronous and use only node:fs, because the fast
 * path of `auth token` uses them.
 */
export interface ProfilePaths {
  readonly folder: string;
  /** The lock file: stays until `auth remove`, contains only the kind of its lock, and is locked during every change of the credential. */
  readonly lock: string;
  /** The lock file of logins, which is separate because a user may take five minutes to log in. */
  readonly loginLock: string;
  /** The session record of the file store. */
  readonly credentialFile: string;
  /** The client secret in the file store. */
  readonly clientFile: string;
  /**
   * Names the temporary files of a login and of `auth doctor` that test, without the lock, whether the session file can be
   * replaced. Any process may remove them.
   */
  readonly probeFile: string;
  readonly profile: string;
}

export function profilePaths(stateFolder: string, profile: string): ProfilePaths {
  const folder = join(stateFolder, 'sessions');
  const at = (suffix: string): string => join(folder, `${profile}.${suffix}`);
  return {
    folder,
    profile,
    lock: at('lock'),
    loginLock: at('login-lock'),
    credentialFile: at('credential.json'),
    clientFile: at('client.json'),
    probeFile: at('probe'),
  };
}

/** The journals of this profile. Profile names contain no dot, so the pattern matches no file of another profile. */
export function listJournals(place: ProfilePaths): readonly { readonly sid: string; readonly path: string }[] {
  return listFolder(place.folder).flatMap((name) => {
    const [, profile, sid = ''] = /^([^.]+)\.([0-9a-f]{16})\.wal$/.exec(name) ?? [];
    return profile === place.profile ? [{ sid, path: join(place.folder, name) }] : [];
  });
}

/** The journal of one session. */
export function journalPath(place: ProfilePaths, sid: string): string {
  return join(place.folder, `${place.profile}.${sid}.wal`);
}

/**
 * Temporary files of the credential file, and test files, which a killed process has left or another process is using. A test
 * file may be a hard link to the session file.
 */
export function listTemporary({ folder, credentialFile, probeFile }: ProfilePaths): readonly string[] {
  const prefixes = [credentialFile, probeFile].map((path) => `.${basename(path)}.`);
  return listFolder(folder)
    .filter((name) => name.endsWith('.tmp') && prefixes.some((prefix) => name.startsWith(prefix)))
    .map((name) => join(folder, name));
}

/**
 * The account name of the keychain items of a profile, `<profile>#<id>`. The id is stored in the folder of the lock files: the
 * locks of another state folder do not exclude this process, so each state folder must use separate keychain items.
 */
export function keychainAccount(place: ProfilePaths, random: (bytes: number) => Uint8Array): string {
  return existingKeychainAccount(place) ?? `${place.profile}#${createKeychainId(place.folder, random)}`;
}

/** The keychain account if its id already exists; this function never creates an id. */
export function existingKeychainAccount(place: ProfilePaths): string | undefined {
  const id = readKeychainId(keychainIdPath(place.folder));
  return id === undefined ? undefined : `${place.profile}#${id}`;
}

function createKeychainId(folder: string, random: (bytes: number) => Uint8Array): string {
  const path = keychainIdPath(folder);
  ensureFolder(folder);
  const line = `${Buffer.from(random(6)).toString('base64url')}\n`;
  linkNewFile(path, line);
  // The file is missing on a file system without hard links, and empty if a crash interrupted `appendLine`.
  if (readKeychainId(path) === undefined) appendLine(path, line);
  const id = readKeychainId(path);
  if (id === undefined) throw new Error(`could not read the id in ${path}`);
  return id;
}

/**
 * The first line of the file; undefined when the file is missing or empty. After a power failure the file can be empty or have
 * zero bytes.
 */
function readKeychainId(path: string): string | undefined {
  const [id = ''] = readText(path)?.replaceAll('\0', '').trim().split('\n') ?? [];
  return id === '' ? undefined : id;
}

/**
 * Creates the file with its whole text, by a hard link: the link fails when the file exists, so that two processes that run
 * for the first time at once get the same id. Every failure of the link is left to `appendLine`.
 */
function linkNewFile(path: string, text: string): void {
  const { descriptor, temporary } = createTemporary(path);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
    linkSync(temporary, path);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error && error.syscall === 'link')) throw error;
  } finally {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
  }
  fsyncFolder(dirname(path));
}

/** Two processes that append at the same time then read the same first line, because each appends its line in one write. */
function appendLine(path: string, line: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const descriptor = openSync(path, flags, 0o600);
  try {
    writeFileSync(descriptor, line);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  fsyncFolder(dirname(path));
}

function keychainIdPath(folder: string): string {
  return join(folder, 'keychain-id');
}
