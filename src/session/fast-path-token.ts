import { fstatSync, statSync } from 'node:fs';
import { readConfig } from '../config/config-file.ts';
import { resolveSettings } from '../config/settings.ts';
import { platformFolders } from '../platform/folders.ts';
import type { Environment } from '../platform/host.ts';
import { requireOwnFolder } from '../platform/own-folder.ts';
import { readSecretText } from '../platform/secret-file.ts';
import type { Secret } from '../secret.ts';
import { decodeRecord, isRecordOfBinding, refreshMarginSeconds, secondsUntilExpiry } from './credential-record.ts';
import {
  existingKeychainAccount,
  listCredentialTemporaries,
  listWriteAheadFiles,
  profilePaths,
} from './profile-paths.ts';
import { sessionBindingOf } from './session-binding.ts';

/**
 * Milliseconds to wait for the keychain. After the time limit, the program repeats the read in a helper process, which can wait
 * longer and can be killed.
 */
const keychainTimeoutMs = 1_000;

/**
 * Reads the access token for `auth token [--profile NAME]` without loading the whole program; if the result is undefined, the
 * whole program runs and reports any error. The fast path never writes, refreshes, prompts or unlocks.
 */
export async function fastPathToken(
  argv: readonly string[],
  env: Environment,
  platform: NodeJS.Platform,
  nowMs: number,
  /** Called when a native call still blocks a thread, which prevents this process from exiting. */
  onBlocked: () => void = () => {},
): Promise<Secret | undefined> {
  const typed = parseTokenArguments(argv);
  // If the output is a terminal, the whole program runs, because it prints a warning before the token.
  if (typed === undefined || env.CLOUDCTL_ACCESS_TOKEN || isPossiblyTerminal()) return undefined;
  try {
    const folders = platformFolders(env, platform);
    const settings = resolveSettings({ env, config: readConfig(folders.config), profile: typed.profile });
    const binding = sessionBindingOf(settings);
    if (binding === undefined) return undefined;
    const place = profilePaths(folders.state, settings.profileName);
    for (const folder of [folders.state, place.folder]) requireOwnFolder(folder);
    // An earlier refresh was interrupted or another one is in progress, so the stored record may not be the newest.
    if (listWriteAheadFiles(place).length > 0 || listCredentialTemporaries(place).length > 0) return undefined;
    const text =
      settings.values.credential_store === 'file'
        ? readSecretText(place.credentialFile)
        : await readKeychainText(existingKeychainAccount(place), env, platform, onBlocked);
    const record = text === undefined ? undefined : decodeRecord(text);
    if (record === undefined || !isRecordOfBinding(record, binding)) return undefined;
    return secondsUntilExpiry(record, nowMs) > refreshMarginSeconds ? record.accessToken : undefined;
  } catch {
    // The whole program encounters the same error and reports it.
    return undefined;
  }
}

/** Every terminal is a character device; the module node:tty is not used, because loading it takes a tenth of the total time. */
function isPossiblyTerminal(): boolean {
  const output = fstatSync(1);
  return output.isCharacterDevice() && output.rdev !== statSync('/dev/null', { throwIfNoEntry: false })?.rdev;
}

/** Accepts only the words `auth token`, with or without a profile. */
function parseTokenArguments(argv: readonly string[]): { readonly profile: string | undefined } | undefined {
  const [first, second, third, fourth] = argv;
  if (first !== 'auth' || second !== 'token') return undefined;
  if (argv.length === 2) return { profile: undefined };
  if (argv.length === 4 && third === '--profile') return { profile: fourth };
  return undefined;
}

async function readKeychainText(
  account: string | undefined,
  env: Environment,
  platform: NodeJS.Platform,
  onBlocked: () => void,
): Promise<string | undefined> {
  if (account === undefined) return undefined;
  const { readKeychainQuickly } = await import('../platform/read-keychain-quickly.ts');
  const read = await readKeychainQuickly(account, { env, platform, limit: keychainTimeoutMs });
  if (read.kind === 'unavailable' && read.why === 'hung' && platform !== 'linux') onBlocked();
  return read.kind === 'found' ? read.value : undefined;
}
