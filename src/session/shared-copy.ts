import { isJsonRecord, readNumberField, readStringField, tryParseJson } from '../base/json.ts';
import {
  ensureFolder,
  readTextIfPresent,
  readTextIfReadable,
  removeFileDurably,
  writeFileAtomically,
} from '../platform/files.ts';
import type { EncryptedSharedSession } from '../shared-store/shared-session.ts';
import type { ProfilePaths } from './profile-paths.ts';

/** The newest record of the shared store that this machine has seen, as the store has it: encrypted. */
export interface SharedSessionCopy extends EncryptedSharedSession {
  readonly share: string;
  /** The time of the store minus the time of this machine, in milliseconds. */
  readonly clockOffset: number;
  /** True if the store has not confirmed the login or logout that created the record. */
  readonly isUnconfirmed?: true;
  /** True if an unconfirmed login or logout replaced a session that this machine could decrypt. */
  readonly hasReplaced?: true;
  /** The warning of a command that printed no warnings, for the next command that does. */
  readonly unshownWarning?: SharedCopyWarning;
}

/** Why tokens of a session may be valid although no machine will revoke them. */
export type SharedCopyWarning = (typeof sharedCopyWarnings)[number];
const sharedCopyWarnings = ['session_not_revoked', 'login_not_used', 'tokens_not_stored'] as const;

/**
 * Reads the local copy of the shared session; undefined if the copy is missing, cannot be read, is damaged or belongs
 * to another share. If the store has an older record than the copy, for example after a restore from a backup, the copy is written to the store.
 */
export function readLocalCopyOfSharedSession(
  { sharedCopyFile }: ProfilePaths,
  share: string,
): SharedSessionCopy | undefined {
  return parseCopy(readTextIfReadable(sharedCopyFile), share);
}

/** The same, but throws the error of the operating system if the copy cannot be read: it may be the newest record. */
export function requireLocalCopyOfSharedSession(
  { sharedCopyFile }: ProfilePaths,
  share: string,
): SharedSessionCopy | undefined {
  return parseCopy(readTextIfPresent(sharedCopyFile), share);
}

function parseCopy(text: string | undefined, share: string): SharedSessionCopy | undefined {
  const json = tryParseJson(text ?? '');
  if (!json.ok || !isJsonRecord(json.value) || json.value.v !== 1) return undefined;
  const fields = json.value;
  const [epoch, gen, clockOffset] = ['epoch', 'gen', 'clock_offset'].map((name) => readNumberField(fields, name));
  const [sid, kid, record] = ['sid', 'kid', 'record'].map((name) => readStringField(fields, name));
  if (epoch === undefined || gen === undefined || sid === undefined || kid === undefined) return undefined;
  if (record === undefined || readStringField(fields, 'share') !== share) return undefined;
  const unconfirmed = fields.unconfirmed === true ? { isUnconfirmed: true as const } : {};
  const replaced = fields.has_replaced === true ? { hasReplaced: true as const } : {};
  const warning = sharedCopyWarnings.find((known) => known === fields.warning);
  const unshown = warning === undefined ? {} : { unshownWarning: warning };
  return {
    share,
    epoch,
    gen,
    sid,
    kid,
    record,
    clockOffset: clockOffset ?? 0,
    ...unconfirmed,
    ...replaced,
    ...unshown,
  };
}

/**
 * Writes the local copy of the shared session atomically and durably. Throws the error of the operating system, also if the
 * present copy cannot be read: it may be newer.
 */
export function writeLocalCopyOfSharedSession({ folder, sharedCopyFile }: ProfilePaths, copy: SharedSessionCopy): void {
  const { share, epoch, gen, sid, kid, record, clockOffset, isUnconfirmed: unconfirmed } = copy;
  ensureFolder(folder);
  readTextIfPresent(sharedCopyFile);
  const version = { v: 1, share, epoch, gen, sid, kid, record };
  const fields = {
    ...version,
    clock_offset: Math.round(clockOffset),
    unconfirmed,
    has_replaced: copy.hasReplaced,
    warning: copy.unshownWarning,
  };
  writeFileAtomically(sharedCopyFile, `${JSON.stringify(fields)}\n`);
}

export function removeLocalCopyOfSharedSession({ sharedCopyFile }: ProfilePaths): void {
  removeFileDurably(sharedCopyFile);
}
