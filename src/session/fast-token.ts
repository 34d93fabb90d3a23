import { readConfig } from '../config/file.ts';
import { resolveSettings } from '../config/settings.ts';
import { readTextIfAny } from '../platform/files.ts';
import { platformFolders } from '../platform/folders.ts';
import type { Environment } from '../platform/host.ts';
import type { Secret } from '../secret.ts';
import { placeOf } from './place.ts';
import { decodeRecord, isBoundTo, refreshMargin, secondsLeft } from './record.ts';
import { bindingOf } from './wiring.ts';

/**
 * Answers `auth token [--profile NAME]` from the file store without loading the program; undefined leaves it to the program,
 * which also words every error. It never writes, refreshes or asks.
 */
export function fastToken(
  argv: readonly string[],
  env: Environment,
  platform: NodeJS.Platform,
  nowMs: number,
): Secret | undefined {
  const typed = tokenWords(argv);
  if (typed === undefined || env.CLOUDCTL_ACCESS_TOKEN || process.stdout.isTTY) return undefined;
  try {
    const folders = platformFolders(env, platform);
    const settings = resolveSettings({ env, config: readConfig(folders.config), profile: typed.profile });
    const binding = bindingOf(settings);
    if (binding === undefined || settings.values.credential_store !== 'file') return undefined;
    const text = readTextIfAny(placeOf(folders.state, settings.profileName).credentialFile);
    const record = text === undefined ? undefined : decodeRecord(text);
    if (record === undefined || !isBoundTo(record, binding)) return undefined;
    return secondsLeft(record, nowMs) > refreshMargin ? record.accessToken : undefined;
  } catch {
    // Whatever is wrong, the program meets it again and has the words for it.
    return undefined;
  }
}

/** Exactly `auth token`, with or without a profile. */
function tokenWords(argv: readonly string[]): { readonly profile: string | undefined } | undefined {
  const [first, second, third, fourth] = argv;
  if (first !== 'auth' || second !== 'token') return undefined;
  if (argv.length === 2) return { profile: undefined };
  if (argv.length === 4 && third === '--profile') return { profile: fourth };
  return undefined;
}
