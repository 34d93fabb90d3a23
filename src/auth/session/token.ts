import type { Secret } from '../../base/secret.ts';
import { readConfig } from '../../config/config-file.ts';
import { findBinding, resolveSettings } from '../../config/settings.ts';
import { resolveFolders } from '../../platform/folders.ts';
import type { ProcessEnvironment } from '../../platform/host.ts';
import { requireOwnFolder } from '../../platform/own-folder.ts';
import { readSecretFile } from '../../platform/secret-file.ts';
import { maybeTerminal } from '../../platform/terminal.ts';
import { existingKeychainAccount, listJournals, profilePaths } from './paths.ts';
import { belongsTo, decodeRecord, refreshMargin, secondsLeft } from './record.ts';

/**
 * Milliseconds to wait for the keychain. After the time limit, the program repeats the read in a helper process, which can wait
 * longer and can be killed.
 */
const keychainTimeoutMs = 1_000;

/**
 * Reads the access token for `auth token`, with `--profile` at any place, without loading the whole program; if the result is
 * undefined, the whole program runs and reports any error. The fast path never writes, refreshes, prompts or unlocks.
 */
export async function readTokenFast(
  argv: readonly string[],
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  nowMs: number,
  /** Called when a native call still blocks a thread, which prevents this process from exiting. */
  onBlocked: () => void = () => {},
): Promise<Secret | undefined> {
  const typed = parseTokenArguments(argv);
  // If the output is a terminal, the normal path runs, because it prints a warning before the token.
  if (typed === undefined || env.CLOUDCTL_ACCESS_TOKEN || maybeTerminal(1)) return undefined;
  try {
    const folders = resolveFolders(env, platform);
    const settings = resolveSettings({ env, config: readConfig(folders.config), profile: typed.profile });
    const binding = findBinding(settings);
    if (binding === undefined || settings.values.token_command !== undefined) return undefined;
    const place = profilePaths(folders.state, settings.profileName);
    for (const folder of [folders.state, place.folder]) requireOwnFolder(folder);
    // An earlier refresh was interrupted or another one is in progress, so the stored record may not be the newest.
    if (listJournals(place).length > 0) return undefined;
    const text =
      settings.values.credential_store === 'file'
        ? readSecretFile(place.credentialFile)
        : await readKeychainText(existingKeychainAccount(place), env, platform, onBlocked);
    const record = text === undefined ? undefined : decodeRecord(text);
    if (record === undefined || !belongsTo(record, binding)) return undefined;
    return secondsLeft(record, nowMs) > refreshMargin(record) ? record.accessToken : undefined;
  } catch {
    // The normal path of the command encounters the same error and reports it.
    return undefined;
  }
}

/**
 * Accepts only the command `auth token`, with or without `--profile`; undefined for any other command line. The parser
 * of the program accepts `--profile` at the same places.
 */
function parseTokenArguments(argv: readonly string[]): { readonly profile: string | undefined } | undefined {
  const command: string[] = [];
  let profile: string | undefined;
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word.startsWith(profileOptionPrefix)) profile = word.slice(profileOptionPrefix.length);
    else if (word === '--profile' && at + 1 < argv.length) profile = argv[++at];
    else if (command.push(word) > 2) return undefined;
  }
  return command[0] === 'auth' && command[1] === 'token' ? { profile } : undefined;
}

const profileOptionPrefix = '--profile=';

async function readKeychainText(
  account: string | undefined,
  env: ProcessEnvironment,
  platform: NodeJS.Platform,
  onBlocked: () => void,
): Promise<string | undefined> {
  if (account === undefined) return undefined;
  const { readQuickly } = await import('../../platform/quick-keychain.ts');
  const read = await readQuickly(account, { env, platform, limit: keychainTimeoutMs });
  if (read.kind === 'unavailable' && read.why === 'hung' && platform !== 'linux') onBlocked();
  return read.kind === 'found' ? read.value : undefined;
}
