import { join } from 'node:path';
import { usage } from '../errors.ts';
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
  const text = readTextIfAny(placePath(stateFolder));
  const json = text === undefined ? undefined : parseJson(text);
  return json?.ok === true ? decodeSandboxPlace(json.value) : undefined;
}

export function writeSandboxPlace(stateFolder: string, place: SandboxPlace): void {
  ensureFolder(stateFolder);
  writeAtomically(
    placePath(stateFolder),
    `${JSON.stringify(Object.fromEntries(keys.map((key) => [key, place[key]])), null, 2)}\n`,
  );
}

/** Forgets it only if it is still this one: another may have been started since. */
export function forgetSandboxPlace(stateFolder: string, place: SandboxPlace): void {
  if (readSandboxPlace(stateFolder)?.admin_token === place.admin_token) removeDurably(placePath(stateFolder));
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

function placePath(stateFolder: string): string {
  return join(stateFolder, 'sandbox.json');
}
