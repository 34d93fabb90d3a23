import { join } from 'node:path';
import { CliError, usage } from '../errors.ts';
import { isRecord, parseJson, textOf } from '../json.ts';
import { ensureFolder, readTextIfAny, removeDurably, writeAtomically } from '../platform/files.ts';
import type { Environment } from '../platform/host.ts';
import { parseOrigin } from './origins.ts';
import { given } from './settings.ts';

/** Where the sandbox that was started last answers, and who it knows. Its admin token and client secret stand in it, so the file has mode 0600. */
export interface SandboxPlace {
  readonly auth_url: string;
  readonly base_url: string;
  readonly panel_url: string;
  readonly admin_url: string;
  readonly admin_token: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly callback_url: string;
}

const keys = [
  'auth_url',
  'base_url',
  'panel_url',
  'admin_url',
  'admin_token',
  'client_id',
  'client_secret',
  'callback_url',
] as const;

export function readSandboxPlace(stateFolder: string): SandboxPlace | undefined {
  return readSandboxPlaces(stateFolder)[0];
}

/** The one that was started last, then those that were started before it and have not ended since. */
export function readSandboxPlaces(stateFolder: string): readonly SandboxPlace[] {
  const text = readPlaceText(placePath(stateFolder));
  const json = text === undefined ? undefined : parseJson(text);
  const last = json?.ok === true ? decodeSandboxPlace(json.value) : undefined;
  if (json?.ok !== true || last === undefined) return [];
  const earlier = isRecord(json.value) && Array.isArray(json.value.earlier) ? json.value.earlier : [];
  return [last, ...earlier.flatMap((fields) => decodeSandboxPlace(fields) ?? [])];
}

function readPlaceText(path: string): string | undefined {
  try {
    return readTextIfAny(path);
  } catch (error) {
    throw new CliError('config_invalid', `could not read ${path}`, {
      detail: error instanceof Error ? error.message : String(error),
      hint: 'remove it, or make it yours: it only tells where a sandbox runs',
      cause: error,
    });
  }
}

/** Written down as the last one; what was known of it is replaced. */
export function writeSandboxPlace(stateFolder: string, place: SandboxPlace): void {
  writePlaces(stateFolder, [place, ...readSandboxPlaces(stateFolder).filter(isOther(place))]);
}

/** Forgets this one, wherever it stands: others may have been started before and since. */
export function forgetSandboxPlace(stateFolder: string, place: SandboxPlace): void {
  const known = readSandboxPlaces(stateFolder);
  const left = known.filter(isOther(place));
  if (left.length < known.length) writePlaces(stateFolder, left);
}

export interface SandboxAdmin {
  readonly adminUrl: string;
  readonly adminToken: string;
}

/** Option and variable before the one that was started last; the token of the last one goes to no other address. */
export function sandboxAdmin(
  stateFolder: string,
  env: Environment,
  adminUrl: string | undefined,
): SandboxAdmin | undefined {
  const place = readSandboxPlace(stateFolder);
  const variable = given(env.CLOUDCTL_SANDBOX_ADMIN_URL);
  const typed = adminUrl ?? variable;
  const source = adminUrl === undefined ? 'CLOUDCTL_SANDBOX_ADMIN_URL' : '--admin-url';
  const url = typed === undefined ? place?.admin_url : requireOrigin(typed, source);
  const token = given(env.CLOUDCTL_SANDBOX_ADMIN_TOKEN) ?? (url === place?.admin_url ? place?.admin_token : undefined);
  return url === undefined || token === undefined ? undefined : { adminUrl: url, adminToken: token };
}

function requireOrigin(text: string, source: string): string {
  const parsed = parseOrigin(text);
  if (!parsed.ok) throw usage(`${source} is ${parsed.reason}`);
  return parsed.origin;
}

/** Decodes the file, and what the admin API tells of a running sandbox. */
export function decodeSandboxPlace(fields: unknown): SandboxPlace | undefined {
  if (!isRecord(fields)) return undefined;
  const entries = keys.map((key) => [key, textOf(fields, key)] as const);
  // Every key was found to be text just here.
  return entries.every(([, value]) => value !== undefined)
    ? (Object.fromEntries(entries) as unknown as SandboxPlace)
    : undefined;
}

/** The token alone does not tell: with the same seed two sandboxes have the same. */
function isOther(one: SandboxPlace): (place: SandboxPlace) => boolean {
  return (other) => other.admin_token !== one.admin_token || other.admin_url !== one.admin_url;
}

function writePlaces(stateFolder: string, [last, ...earlier]: readonly SandboxPlace[]): void {
  if (last === undefined) {
    removeDurably(placePath(stateFolder));
    return;
  }
  const bare = (place: SandboxPlace): object => Object.fromEntries(keys.map((key) => [key, place[key]]));
  const json = earlier.length === 0 ? bare(last) : { ...bare(last), earlier: earlier.map(bare) };
  ensureFolder(stateFolder);
  writeAtomically(placePath(stateFolder), `${JSON.stringify(json, null, 2)}\n`);
}

function placePath(stateFolder: string): string {
  return join(stateFolder, 'sandbox.json');
}
