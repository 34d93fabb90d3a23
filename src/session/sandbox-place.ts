import { join } from 'node:path';
import { isRecord, parseJson, textOf } from '../json.ts';
import { ensureFolder, readTextIfAny, removeDurably, writeAtomically } from '../platform/files.ts';

/** Where the sandbox that was started last answers. The admin token is its own secret, so the file has mode 0600. */
export interface SandboxPlace {
  readonly auth_url: string;
  readonly base_url: string;
  readonly admin_url: string;
  readonly admin_token: string;
  readonly pid: number;
}

export function readSandboxPlace(stateFolder: string): SandboxPlace | undefined {
  const text = readTextIfAny(placePath(stateFolder));
  const json = text === undefined ? undefined : parseJson(text);
  if (json === undefined || !json.ok || !isRecord(json.value)) return undefined;
  const fields = json.value;
  const [auth_url, base_url, admin_url, admin_token] = ['auth_url', 'base_url', 'admin_url', 'admin_token'].map((key) => textOf(fields, key));
  const pid = fields['pid'];
  if (auth_url === undefined || base_url === undefined || admin_url === undefined || admin_token === undefined) return undefined;
  return typeof pid === 'number' ? { auth_url, base_url, admin_url, admin_token, pid } : undefined;
}

export function writeSandboxPlace(stateFolder: string, place: SandboxPlace): void {
  ensureFolder(stateFolder);
  writeAtomically(placePath(stateFolder), `${JSON.stringify(place, null, 2)}\n`);
}

/** Forgets it only if it is still the one of this process. */
export function forgetSandboxPlace(stateFolder: string, pid: number): void {
  if (readSandboxPlace(stateFolder)?.pid === pid) removeDurably(placePath(stateFolder));
}

function placePath(stateFolder: string): string {
  return join(stateFolder, 'sandbox.json');
}
