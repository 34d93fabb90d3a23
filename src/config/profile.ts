import { isAbsolute } from 'node:path';
import { isJsonRecord, parseProgram } from '../base/json.ts';
import { parseCallbackUrl, parseOrigin } from './urls.ts';

/** One profile of config.json. A profile never contains a secret. */
export interface Profile {
  readonly auth_url?: string;
  readonly base_url?: string;
  readonly client_id?: string;
  readonly callback_urls?: readonly string[];
  readonly issuer?: string;
  readonly scope?: string;
  readonly flow?: 'code' | 'implicit';
  readonly token_params?: 'query' | 'body' | 'basic';
  readonly pkce?: boolean;
  readonly credential_store?: 'keychain' | 'file';
  /** The program, with its arguments, that prints the access token, so that no session is stored. */
  readonly token_command?: readonly string[];
  readonly output?: 'table' | 'json' | 'ndjson' | 'yaml' | 'csv';
  /** Days after which the ledger of a finished batch is deleted; with 0 the ledger is never deleted. */
  readonly batch_ledger_days?: number;
}

export type SettingKey = keyof Profile;
type ProfileParseResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly reason: string };

interface ProfileSettingSpec {
  readonly description: string;
  readonly variable?: string;
  /** An example value for hints, quoted for a shell. */
  readonly example: string;
  /** The values of the setting, if they are few. */
  readonly choices?: readonly string[];
  /** Parses the text of an option, a variable or a `config set` argument to the stored value. */
  readonly parse: (text: string) => ProfileParseResult<string | boolean | number | readonly string[]>;
}

/** Every key of a profile, with its environment variable and its parser. */
export const settingSpecs: Readonly<Record<SettingKey, ProfileSettingSpec>> = {
  auth_url: {
    description: 'origin of the authorization server',
    variable: 'CLOUDCTL_AUTH_URL',
    example: 'https://cloud.example.com',
    parse: parseOriginText,
  },
  base_url: {
    description: 'origin of the resource API',
    variable: 'CLOUDCTL_BASE_URL',
    example: 'https://api.example.com',
    parse: parseOriginText,
  },
  client_id: {
    description: 'client ID of the registered application',
    variable: 'CLOUDCTL_CLIENT_ID',
    example: 'my-application',
    parse: parseVisibleText,
  },
  callback_urls: {
    description: 'callback URLs of the registered application; the first one whose port is free is used',
    variable: 'CLOUDCTL_CALLBACK_URL',
    example: 'http://127.0.0.1:8765/callback',
    parse: parseCallbackUrls,
  },
  issuer: {
    description: 'issuer that the redirect of a login must name (RFC 9207)',
    example: 'https://cloud.example.com',
    parse: parseVisibleText,
  },
  scope: {
    description: 'scope to request: read or "read write" (default: read)',
    variable: 'CLOUDCTL_SCOPE',
    example: '"read write"',
    parse: parseScope,
  },
  flow: {
    description: 'authorization flow: code or implicit (default: code)',
    variable: 'CLOUDCTL_FLOW',
    example: 'code',
    ...oneOf('code', 'implicit'),
  },
  token_params: {
    description: 'where the token endpoint reads its parameters: query, body or basic (default: query)',
    variable: 'CLOUDCTL_TOKEN_PARAMS',
    example: 'query',
    ...oneOf('query', 'body', 'basic'),
  },
  pkce: { description: 'send a PKCE challenge: true or false (default: true)', example: 'true', parse: parseBoolean },
  credential_store: {
    description: 'credential store: keychain or file (default: keychain)',
    variable: 'CLOUDCTL_CREDENTIAL_STORE',
    example: 'keychain',
    ...oneOf('keychain', 'file'),
  },
  token_command: {
    description: 'program that prints the access token, as a JSON array of the program and its arguments',
    example: `'["ssh","broker","cloudctl","auth","token"]'`,
    parse: parseTokenCommand,
  },
  output: {
    description: 'output format (default: table)',
    variable: 'CLOUDCTL_OUTPUT',
    example: 'json',
    ...oneOf('table', 'json', 'ndjson', 'yaml', 'csv'),
  },
  batch_ledger_days: {
    description: 'days after which the ledger of a finished batch is deleted; 0 keeps it',
    example: '30',
    parse: parseDays,
  },
};

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(settingSpecs, key);
}

/** A profile name is also a file name and a keychain account; it is lower case, because some file systems ignore case. */
export function isProfileName(name: string): boolean {
  return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(name);
}

/** The text of a setting as `config set` reads it. */
export function formatSetting(key: SettingKey, value: unknown, separator = ','): string {
  if (key === 'token_command') return JSON.stringify(value);
  return Array.isArray(value) ? value.join(separator) : String(value);
}

export const nameRule = '1 to 64 lower-case letters, digits, "-" and "_", beginning with a letter or digit';

/** Decodes one profile of config.json. An error result names the invalid key, so that its line in config.json can be shown. */
export function decodeProfile(json: unknown): ProfileParseResult<Profile> & { readonly key?: string } {
  if (!isJsonRecord(json)) return { ok: false, reason: 'it is not an object' };
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(json)) {
    // Unknown keys come from a newer version: the program ignores them, and keeps them when it writes the file.
    if (!isSettingKey(key)) continue;
    const text = key === 'token_command' && typeof value !== 'string' ? JSON.stringify(value) : toText(value);
    const parsed = text === undefined ? undefined : settingSpecs[key].parse(text);
    const isWrongType = parsed?.ok === true && typeof value === 'number' && typeof parsed.value !== 'number';
    if (parsed === undefined || isWrongType) return { ok: false, key, reason: `${key} has the wrong type` };
    if (!parsed.ok) return { ok: false, key, reason: `${key} is ${parsed.reason}` };
    entries.push([key, parsed.value]);
  }
  // The loop has checked every value with the parser of its key.
  return { ok: true, value: Object.fromEntries(entries) as Profile };
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(',');
  return undefined;
}

/** A host name without a scheme is completed to an https URL. IP addresses and loopback names require a scheme. */
const bareHost = /^(?!localhost[:/]?)(?=.*[a-z])[a-z0-9-]+(\.[a-z0-9-]+)+(:\d{1,5})?\/?$/i;

function parseOriginText(text: string): ProfileParseResult<string> {
  const parsed = parseOrigin(bareHost.test(text) ? `https://${text}` : text);
  return parsed.ok ? { ok: true, value: parsed.origin } : parsed;
}

function parseCallbackUrls(text: string): ProfileParseResult<readonly string[]> {
  const urls = text.split(',').map((url) => url.trim());
  for (const url of urls) {
    const parsed = parseCallbackUrl(url);
    if (!parsed.ok) return parsed;
  }
  return { ok: true, value: urls };
}

function parseTokenCommand(text: string): ProfileParseResult<readonly string[]> {
  const words = parseProgram(text);
  if (words === undefined || words.includes(''))
    return { ok: false, reason: 'not a JSON array of the program and its arguments, which are non-empty strings' };
  // A relative path would name a file in whatever folder the command runs.
  return isAbsolute(words[0] ?? '') || !/[/\\]/.test(words[0] ?? '')
    ? { ok: true, value: words }
    : { ok: false, reason: 'a relative path; use an absolute path or the name of a program in PATH' };
}

function parseVisibleText(text: string): ProfileParseResult<string> {
  return /^[\x21-\x7e]{1,512}$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, reason: 'not 1 to 512 visible ASCII characters' };
}

function parseScope(text: string): ProfileParseResult<string> {
  return /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text)
    ? { ok: true, value: text }
    : { ok: false, reason: 'not a list of scopes separated by single spaces' };
}

function parseDays(text: string): ProfileParseResult<number> {
  return /^\d{1,4}$/.test(text)
    ? { ok: true, value: Number(text) }
    : { ok: false, reason: 'not a whole number of days from 0 to 9999' };
}

function parseBoolean(text: string): ProfileParseResult<boolean> {
  if (text === 'true') return { ok: true, value: true };
  return text === 'false' ? { ok: true, value: false } : { ok: false, reason: 'not true or false' };
}

function oneOf(...choices: readonly string[]): Pick<ProfileSettingSpec, 'choices' | 'parse'> {
  const parse = (text: string): ProfileParseResult<string> =>
    choices.includes(text) ? { ok: true, value: text } : { ok: false, reason: `not one of ${choices.join(', ')}` };
  return { choices, parse };
}
