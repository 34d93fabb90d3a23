import { isUtf8 } from 'node:buffer';
import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { CliError } from '../base/errors.ts';
import { isJsonRecord, type JsonRecord, tryParseJson } from '../base/json.ts';
import { storageError } from '../base/storage-error.ts';
import { ensureFolder, fileErrorCode, readBytes, UnusableFileError, writeAtomically } from '../platform/files.ts';
import { isHomeless } from '../platform/folders.ts';
import { accessCommand, requireOwner, requireUnplanted } from '../platform/own-folder.ts';
import { decodeProfile, isProfileName, isSettingKey, nameRule, type Profile } from './profile.ts';

/** The decoded config.json; `raw` also contains keys of newer versions, so that they are not lost when the file is written. */
export interface ConfigFile {
  readonly path: string;
  readonly current: string | undefined;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly raw: JsonRecord;
}

export function configPath(folder: string): string {
  return join(folder, 'config.json');
}

/**
 * The lock file for writing config.json. The lock file is in the folder of config.json, because processes with different state
 * folders may share config.json.
 */
export function configLockPath(folder: string): string {
  return join(folder, '.config.lock');
}

/**
 * Reads config.json; a missing file is an empty configuration. Throws DamagedConfigError. The function is synchronous, because
 * the fast path of `auth token` uses it.
 */
export function readConfig(folder: string): ConfigFile {
  // Without a home folder, options and variables can supply every setting of a command.
  const path = isHomeless(folder) ? 'config.json' : configPath(folder);
  requireOwner(folder);
  const text = readConfigText(folder);
  // An empty file is what a power failure, or an editor on a full disk, leaves.
  if (text === undefined || text.trim() === '') return { path, current: undefined, profiles: new Map(), raw: {} };
  const json = tryParseJson(text);
  if (!json.ok) throw new DamagedConfigError(path, text, [], json.isTooDeep ? `it ${json.reason}` : undefined);
  if (!isJsonRecord(json.value)) throw new DamagedConfigError(path, text, [], 'it is not an object');
  const { current, profiles = {} } = json.value;
  if (current !== undefined && typeof current !== 'string')
    throw new DamagedConfigError(path, text, ['current'], 'current is not a string');
  if (!isJsonRecord(profiles)) throw new DamagedConfigError(path, text, ['profiles'], 'profiles is not an object');
  const decoded = new Map<string, Profile>();
  for (const [name, value] of Object.entries(profiles)) {
    if (!isProfileName(name))
      throw new DamagedConfigError(path, text, ['profiles', name], `the profile name is not valid: use ${nameRule}`);
    const profile = decodeProfile(value);
    if (!profile.ok) {
      const at = profile.key === undefined ? [] : [profile.key];
      throw new DamagedConfigError(path, text, ['profiles', name, ...at], `profile ${name}: ${profile.reason}`);
    }
    decoded.set(name, profile.value);
  }
  return { path, current, profiles: decoded, raw: json.value };
}

/** Replaces one profile in config.json; sets the current profile if `current` is given. */
export function writeProfile(
  folder: string,
  config: ConfigFile,
  name: string,
  profile: Profile,
  current?: string,
): void {
  const { [name]: old, ...others } = isJsonRecord(config.raw.profiles) ? config.raw.profiles : {};
  const profiles = { ...others, [name]: { ...keepUnknownKeys(old), ...profile } };
  writeConfig(folder, { ...config.raw, ...(current === undefined ? {} : { current }), profiles });
}

/** Removes one profile from config.json. If the removed profile was the current one, no profile is current afterwards. */
export function removeProfile(folder: string, config: ConfigFile, name: string): void {
  const { [name]: _removed, ...profiles } = isJsonRecord(config.raw.profiles) ? config.raw.profiles : {};
  const { current, ...others } = config.raw;
  writeConfig(folder, { ...(current === undefined || current === name ? {} : { current }), ...others, profiles });
}

export function writeCurrent(folder: string, config: ConfigFile, current: string): void {
  writeConfig(folder, { ...config.raw, current });
}

/**
 * The error for a damaged config.json. `damagedConfig` finds line and column with a parser that is loaded only for this
 * error.
 */
export class DamagedConfigError extends Error {
  override readonly name = 'DamagedConfig';
  readonly path: string;
  readonly text: string;
  readonly at: readonly string[];
  readonly reason: string | undefined;
  /** What the file is instead of a text, as a clause such as "is a named pipe": no line of it can be corrected. */
  readonly what: string | undefined;

  constructor(path: string, text: string, at: readonly string[], reason?: string, what?: string) {
    super(`${path} is damaged`);
    this.what = what;
    this.path = path;
    this.text = text;
    this.at = at;
    this.reason = reason;
  }
}

/** Thousands of profiles have less. */
const maxConfigBytes = 4 * 1024 * 1024;

function readConfigText(folder: string): string | undefined {
  const path = configPath(folder);
  const unusable = (what: string): DamagedConfigError => new DamagedConfigError(path, '', [], undefined, what);
  let bytes: Buffer | undefined;
  try {
    bytes = readBytes(path, maxConfigBytes, (file) => requireUnplanted(path, file));
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof UnusableFileError) throw unusable(error.what);
    const code = String(fileErrorCode(error));
    if (code === 'ELOOP') throw unusable('is a symbolic link that leads to itself');
    // Without the permission to search the folder, the file cannot be moved away either.
    const access = accessCommand(error);
    if (lstatIfPossible(path) !== undefined && access === undefined) throw unusable(`cannot be read (${code})`);
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError('config_invalid', `could not read ${path}`, {
      detail: reason,
      hint: access ?? 'set CLOUDCTL_CONFIG_DIR to a folder that you can read',
    });
  }
  if (bytes === undefined) {
    if (lstatIfPossible(path)?.isSymbolicLink() === true) throw unusable('is a symbolic link to a missing file');
    return undefined;
  }
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) throw unusable('is text in UTF-16');
  if (bytes.includes(0)) throw unusable('contains NUL bytes, as after a power failure');
  if (!isUtf8(bytes)) throw unusable('is not text in UTF-8');
  return bytes.toString('utf8');
}

function lstatIfPossible(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function keepUnknownKeys(old: unknown): JsonRecord {
  if (!isJsonRecord(old)) return {};
  return Object.fromEntries(Object.entries(old).filter(([key]) => !isSettingKey(key)));
}

function writeConfig(folder: string, json: JsonRecord): void {
  const path = configPath(folder);
  try {
    ensureFolder(folder);
    writeAtomically(path, `${JSON.stringify(json, null, 2)}\n`);
  } catch (error) {
    throw storageError(`could not write ${path}`, error, {
      detail: `${error instanceof Error ? error.message : String(error)}; the file is unchanged`,
      elsewhere: accessCommand(error) ?? 'set CLOUDCTL_CONFIG_DIR to a folder that you can write to',
    });
  }
}
