import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ensureFolder, listFolder, readTextIfPresent } from '../platform/files.ts';

/**
 * The session files of one profile in the state folder. The functions are synchronous and use only node:fs, because the fast
 * path of `auth token` uses them.
 */
export interface ProfilePaths {
  readonly folder: string;
  /** The lock file: permanent, empty, and locked during every change of the credential. */
  readonly lock: string;
  /** The lock file of logins, which is separate because a user may take five minutes to log in. */
  readonly loginLock: string;
  /** The session record of the file store. */
  readonly credentialFile: string;
  /** The client secret in the file store. */
  readonly clientFile: string;
  /** The encryption keys of the profile's shared credential store; absent if the keychain or CLOUDCTL_STORE_KEY has them. */
  readonly shareFile: string;
  /** The newest record of the shared store that this machine has seen, encrypted with a key of the share. */
  readonly sharedCopyFile: string;
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
    shareFile: at('share-key'),
    sharedCopyFile: at('shared.json'),
  };
}

/** A write-ahead file, described by its name `<profile>.<sid>.<gen>.wal`. */
export interface RefreshJournalFile {
  readonly sid: string;
  readonly gen: number;
  readonly path: string;
}

/**
 * The write-ahead files of this profile, oldest generation first. Profile names contain no dot, so the pattern matches no file
 * of another profile.
 */
export function listRefreshJournalFiles(place: ProfilePaths): readonly RefreshJournalFile[] {
  const found = listFolder(place.folder).flatMap((name) => {
    const [, profile, sid = '', gen = ''] = /^([^.]+)\.([0-9a-f]{16})\.(\d+)\.wal$/.exec(name) ?? [];
    return profile === place.profile ? [{ sid, gen: Number(gen), path: join(place.folder, name) }] : [];
  });
  return found.sort((a, b) => a.gen - b.gen);
}

export function buildRefreshJournalFilePath(place: ProfilePaths, sid: string, gen: number): string {
  return join(place.folder, `${place.profile}.${sid}.${gen}.wal`);
}

/** The temporary name of a write-ahead file that will replace an existing one. */
export function buildRefreshJournalDraftPath(path: string): string {
  return `${path}.${process.pid}.next`;
}

/** Unfinished write-ahead files that an interrupted command has left. */
export function listTemporaryRefreshJournalFiles(place: ProfilePaths): readonly string[] {
  return listFolder(place.folder)
    .filter((name) => name.startsWith(`${place.profile}.`) && /\.wal\.(\d+\.)?next$/.test(name))
    .map((name) => join(place.folder, name));
}

/** Temporary files of the credential file that an interrupted command has left. */
export function listTemporaryCredentialFiles(place: ProfilePaths): readonly string[] {
  const prefix = `.${basename(place.credentialFile)}.`;
  return listFolder(place.folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.tmp'))
    .map((name) => join(place.folder, name));
}

/**
 * The account name of the keychain items of a profile, `<profile>#<id>`. The id is stored in the folder of the lock files: the
 * locks of another state folder do not exclude this process, so each state folder must use separate keychain items.
 */
export function readOrCreateKeychainAccount(place: ProfilePaths, random: (bytes: number) => Uint8Array): string {
  return `${place.profile}#${keychainId(place.folder, random)}`;
}

/** The keychain account if its id already exists; this function never creates an id. */
export function readExistingKeychainAccount(place: ProfilePaths): string | undefined {
  const id = readTextIfPresent(keychainIdPath(place.folder))?.trim();
  return id === undefined || id === '' ? undefined : `${place.profile}#${id}`;
}

/** A random id of this state folder, which other machines show beside its host name. */
export function readOrCreateStateFolderId(place: ProfilePaths, random: (bytes: number) => Uint8Array): string {
  return keychainId(place.folder, random);
}

function keychainId(folder: string, random: (bytes: number) => Uint8Array): string {
  const path = keychainIdPath(folder);
  const known = readTextIfPresent(path)?.trim();
  if (known) return known;
  ensureFolder(folder);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${Buffer.from(random(6)).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // The hard link fails when the file exists, so that two processes that run for the first time at once get the same id.
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    unlinkSync(draft);
  }
  return readFileSync(path, 'utf8').trim();
}

function keychainIdPath(folder: string): string {
  return join(folder, 'keychain-id');
}
