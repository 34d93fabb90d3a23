import { linkSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureFolder, readTextIfAny } from '../platform/files.ts';

/** Where one profile's session lives in a state folder. Synchronous, only node:fs: it stands on the fast path. */
export interface Place {
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

export function placeOf(stateFolder: string, profile: string): Place {
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

/**
 * `<profile>#<id>`: the keychain account. The id stands beside the locks, so that another state folder,
 * whose locks could not exclude us, is another item as well.
 */
export function keychainAccount(place: Place, random: (bytes: number) => Uint8Array): string {
  return `${place.profile}#${keychainId(place.folder, random)}`;
}

/** The account if the id exists already; reading alone never makes one. */
export function keychainAccountIfAny(place: Place): string | undefined {
  const id = readTextIfAny(idPath(place.folder))?.trim();
  return id === undefined || id === '' ? undefined : `${place.profile}#${id}`;
}

function keychainId(folder: string, random: (bytes: number) => Uint8Array): string {
  const path = idPath(folder);
  const known = readTextIfAny(path)?.trim();
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

function idPath(folder: string): string {
  return join(folder, 'keychain-id');
}
