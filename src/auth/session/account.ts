import { join } from 'node:path';
import { isJsonRecord, readStringField, tryParseJson } from '../../base/json.ts';
import { ensureFolder, removeDurably, tryReadText, writeAtomically } from '../../platform/files.ts';
import type { AccountInfo, OAuthFlow } from '../oauth/index.ts';

/**
 * The logged-in account, for display and for `prompt=none`; contains no secret. The account file is stored in the folder
 * accounts/ of the config folder.
 */
export interface StoredAccount {
  /** The `sid` of the session to which the account belongs. */
  readonly sid: string;
  readonly name?: string;
  readonly email?: string;
  readonly team_name?: string;
  readonly team_uuid?: string;
  /** The first 6 characters of the account's UUID (docs/service.md S4.12). */
  readonly hint?: string;
  readonly scope: string;
  /** False for the implicit flow, whose response contains no scope, and for a token from `auth login --with-token`. */
  readonly scope_verified: boolean;
  readonly flow: SessionFlow;
}

/** The flow that created the session; `token` means `auth login --with-token`. */
export type SessionFlow = OAuthFlow | 'token';

export function accountFromGrant(
  sid: string,
  info: AccountInfo | undefined,
  scope: string,
  flow: SessionFlow,
): StoredAccount {
  const fields = [
    ['name', info?.name],
    ['email', info?.email],
    ['team_name', info?.teamName],
    ['team_uuid', info?.teamUuid],
    ['hint', info?.uuid?.slice(0, 6)],
  ] as const;
  const known = Object.fromEntries(fields.filter(([, value]) => value !== undefined));
  return { sid, ...known, scope, scope_verified: flow === 'code', flow };
}

/**
 * Stores the account names and the scope of a refreshed session. The account file is used for display only, so a failed write
 * is not an error.
 */
export function updateAccount(
  configFolder: string,
  profile: string,
  { sid, scope }: { readonly sid: string; readonly scope: string },
  info: AccountInfo | undefined,
): void {
  const known = readAccount(configFolder, profile);
  if (known?.sid !== sid) return;
  const next = info === undefined ? { ...known, scope } : accountFromGrant(sid, info, scope, known.flow);
  if (JSON.stringify(next) === JSON.stringify(known)) return;
  try {
    storeAccount(configFolder, profile, next);
  } catch {
    // The session is stored even if the account file cannot be written.
  }
}

/** Reads the account file; undefined when the file is missing, unreadable or damaged, because it is used for display only. */
export function readAccount(configFolder: string, profile: string): StoredAccount | undefined {
  const json = tryParseJson(tryReadText(accountPath(configFolder, profile)) ?? '');
  if (!json.ok || !isJsonRecord(json.value)) return undefined;
  const fields = json.value;
  const sid = readStringField(fields, 'sid');
  const scope = readStringField(fields, 'scope');
  if (sid === undefined || scope === undefined) return undefined;
  const texts = ['name', 'email', 'team_name', 'team_uuid', 'hint'].map(
    (key) => [key, readStringField(fields, key)] as const,
  );
  const known = Object.fromEntries(texts.filter(([, value]) => value !== undefined));
  return {
    sid,
    ...known,
    scope,
    scope_verified: fields.scope_verified === true,
    flow: fields.flow === 'implicit' || fields.flow === 'token' ? fields.flow : 'code',
  };
}

export function storeAccount(configFolder: string, profile: string, account: StoredAccount): void {
  ensureFolder(join(configFolder, 'accounts'));
  writeAtomically(accountPath(configFolder, profile), `${JSON.stringify(account, null, 2)}\n`);
}

export function removeAccountFile(configFolder: string, profile: string): void {
  removeDurably(accountPath(configFolder, profile));
}

function accountPath(configFolder: string, profile: string): string {
  return join(configFolder, 'accounts', `${profile}.json`);
}
