import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ensureFolder, listFolder, readTextIfPresent } from '../platform/files.ts';

/** Where one profile's session lives in a state folder. Synchronous, only node:fs: it stands on the fast path. */
export interface ProfilePaths {
  readonly folder: string;
  /** Permanent empty file, locked by the kernel around every change of the credential. */
  readonly lock: string;
  /** Of its own, because a person may take five minutes to log in. */
  readonly loginLock: string;
  /** The record, with the file store. */
  readonly credentialFile: string;
  /** The client secret, with the file store. */
  readonly clientFile: string;
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
  };
}

/** A write-ahead file by its name, `<profile>.<sid>.<gen>.wal`. */
export interface WriteAheadFile {
  readonly sid: string;
  readonly gen: number;
  readonly path: string;
}

/** The write-ahead files of this profile, the oldest generation first. Another profile's never match: names have no dots. */
export function listWriteAheadFiles(place: ProfilePaths): readonly WriteAheadFile[] {
  const found = listFolder(place.folder).flatMap((name) => {
    const [, profile, sid = '', gen = ''] = /^([^.]+)\.([0-9a-f]{16})\.(\d+)\.wal$/.exec(name) ?? [];
    return profile === place.profile ? [{ sid, gen: Number(gen), path: join(place.folder, name) }] : [];
  });
  return found.sort((a, b) => a.gen - b.gen);
}

export function writeAheadPath(place: ProfilePaths, sid: string, gen: number): string {
  return join(place.folder, `${place.profile}.${sid}.${gen}.wal`);
}

/** The name under which a write-ahead file is made when it is to replace another. */
export function writeAheadDraftPath(path: string): string {
  return `${path}.next`;
}

/** Such files that an interrupted command has left. */
export function listWriteAheadDrafts(place: ProfilePaths): readonly string[] {
  return listFolder(place.folder)
    .filter((name) => name.startsWith(`${place.profile}.`) && name.endsWith('.wal.next'))
    .map((name) => join(place.folder, name));
}

/** Temporaries of the credential file that an interrupted command has left. */
export function listCredentialTemporaries(place: ProfilePaths): readonly string[] {
  const prefix = `.${basename(place.credentialFile)}.`;
  return listFolder(place.folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.tmp'))
    .map((name) => join(place.folder, name));
}

/**
 * `<profile>#<id>`: the keychain account. The id stands beside the locks, so that another state folder,
 * whose locks could not exclude us, is another item as well.
 */
export function keychainAccount(place: ProfilePaths, random: (bytes: number) => Uint8Array): string {
  return `${place.profile}#${keychainId(place.folder, random)}`;
}

/** The account if the id exists already; reading alone never makes one. */
export function existingKeychainAccount(place: ProfilePaths): string | undefined {
  const id = readTextIfPresent(keychainIdPath(place.folder))?.trim();
  return id === undefined || id === '' ? undefined : `${place.profile}#${id}`;
}

function keychainId(folder: string, random: (bytes: number) => Uint8Array): string {
  const path = keychainIdPath(folder);
  const known = readTextIfPresent(path)?.trim();
  if (known) return known;
  ensureFolder(folder);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${Buffer.from(random(6)).toString('base64url')}\n`, { mode: 0o600 });
  try {
    // A link fails when the file is there: of two first runs at once, both end with the same id.
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
