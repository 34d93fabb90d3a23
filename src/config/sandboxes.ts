import { join } from 'node:path';
import { CliError, usageError } from '../base/errors.ts';
import { isJsonRecord, type JsonRecord, readStringField, readStringList, tryParseJson } from '../base/json.ts';
import { ensureFolder, removeDurably } from '../platform/files.ts';
import type { ProcessEnvironment } from '../platform/host.ts';
import { readSecretFile, writeSecretFile } from '../platform/secret-file.ts';
import { variableValue } from './settings.ts';
import { parseCallbackUrl, parseOrigin } from './urls.ts';

/** The URLs and credentials of a running sandbox, as stored in sandbox.json in the state folder (mode 0600). */
export interface SandboxPlace {
  readonly auth_url: string;
  readonly base_url: string;
  readonly panel_url: string;
  readonly admin_url: string;
  readonly admin_token: string;
  readonly client_id: string;
  readonly client_secret: string;
  /** The first callback URL of the application at which this program can receive the redirect. */
  readonly callback_url: string | undefined;
}

/** The option `--admin-url` of the commands that call the admin API of a sandbox. */
export const adminUrlOption = {
  name: 'admin-url',
  valueName: 'URL',
  description: 'admin URL of the sandbox (default: the sandbox that was started last)',
};

const connectionKeys = [
  'auth_url',
  'base_url',
  'panel_url',
  'admin_url',
  'admin_token',
  'client_id',
  'client_secret',
] as const;

export function lastSandbox(stateFolder: string): SandboxPlace | undefined {
  return knownSandboxes(stateFolder)[0];
}

/** Every recorded sandbox; the one that was started last is first. */
export function knownSandboxes(stateFolder: string): readonly SandboxPlace[] {
  const text = readConnectionText(connectionPath(stateFolder));
  const json = text === undefined ? undefined : tryParseJson(text);
  const last = json?.ok === true ? decodePlace(json.value) : undefined;
  if (json?.ok !== true || last === undefined) return [];
  const earlier = isJsonRecord(json.value) && Array.isArray(json.value.earlier) ? json.value.earlier : [];
  return [last, ...earlier.flatMap((fields) => decodePlace(fields) ?? [])];
}

function readConnectionText(path: string): string | undefined {
  try {
    return readSecretFile(path);
  } catch (error) {
    throw new CliError('config_invalid', `could not read ${path}`, {
      detail: error instanceof Error ? error.message : String(error),
      hint: 'remove the file; it only records the running sandboxes',
      cause: error,
    });
  }
}

/** Records the sandbox as the one that was started last; replaces an older record of the same sandbox. */
export function recordSandbox(stateFolder: string, place: SandboxPlace): void {
  writeConnections(stateFolder, [place, ...knownSandboxes(stateFolder).filter(isOtherSandbox(place))]);
}

/** Removes the record of the given sandbox and keeps the records of other sandboxes. */
export function forgetSandbox(stateFolder: string, place: SandboxPlace): void {
  const known = knownSandboxes(stateFolder);
  const left = known.filter(isOtherSandbox(place));
  if (left.length < known.length) writeConnections(stateFolder, left);
}

interface SandboxAdminAccess {
  readonly adminUrl: string;
  readonly adminToken: string;
}

/**
 * The admin URL from the option, else from the variable, else of the sandbox that was started last. The recorded admin token is
 * sent only to the URL that was recorded with it.
 */
export function adminAccess(
  stateFolder: string,
  env: ProcessEnvironment,
  adminUrl: string | undefined,
): SandboxAdminAccess | undefined {
  const place = lastSandbox(stateFolder);
  const variable = variableValue(env.CLOUDCTL_SANDBOX_ADMIN_URL);
  const typed = adminUrl ?? variable;
  const source = adminUrl === undefined ? 'CLOUDCTL_SANDBOX_ADMIN_URL' : '--admin-url';
  const url = typed === undefined ? place?.admin_url : requireOrigin(typed, source);
  const token =
    variableValue(env.CLOUDCTL_SANDBOX_ADMIN_TOKEN) ?? (url === place?.admin_url ? place?.admin_token : undefined);
  return url === undefined || token === undefined ? undefined : { adminUrl: url, adminToken: token };
}

function requireOrigin(text: string, source: string): string {
  const parsed = parseOrigin(text);
  if (!parsed.ok)
    throw usageError(
      `${source} is ${parsed.reason}`,
      `pass an origin, such as \`${source}${source.startsWith('--') ? ' ' : '='}http://127.0.0.1:8080\``,
    );
  return parsed.origin;
}

/** Decodes the connection data of a sandbox from sandbox.json or from the admin API. */
export function decodePlace(fields: unknown): SandboxPlace | undefined {
  if (!isJsonRecord(fields)) return undefined;
  const entries = connectionKeys.map((key) => [key, readStringField(fields, key)] as const);
  if (entries.some(([, value]) => value === undefined)) return undefined;
  const callback_url = findReceivable(registeredUrls(fields));
  // Every value is a string, which the compiler cannot infer.
  return { ...Object.fromEntries(entries), callback_url } as unknown as SandboxPlace;
}

/** The place of a sandbox that this process has started. */
export function placeOf(
  ready: Omit<SandboxPlace, 'callback_url'> & {
    readonly applications: readonly { readonly callback_urls: readonly string[] }[];
  },
): SandboxPlace {
  return { ...ready, callback_url: findReceivable(ready.applications[0]?.callback_urls ?? []) };
}

function findReceivable(callbackUrls: readonly string[]): string | undefined {
  return callbackUrls.find((url) => parseCallbackUrl(url).ok);
}

/** The callback URLs of the first application, which is the client of this program; sandbox.json has only the chosen one. */
function registeredUrls(fields: JsonRecord): readonly string[] {
  const first: unknown = Array.isArray(fields.applications) ? fields.applications[0] : undefined;
  return readStringList(isJsonRecord(first) ? first.callback_urls : [fields.callback_url]);
}

/**
 * Whether two records are of different sandboxes: compares token and URL, because two sandboxes with the same seed have the
 * same token.
 */
function isOtherSandbox(one: SandboxPlace): (place: SandboxPlace) => boolean {
  return (other) => other.admin_token !== one.admin_token || other.admin_url !== one.admin_url;
}

function writeConnections(stateFolder: string, [last, ...earlier]: readonly SandboxPlace[]): void {
  if (last === undefined) {
    removeDurably(connectionPath(stateFolder));
    return;
  }
  const bare = (place: SandboxPlace): object =>
    Object.fromEntries([...connectionKeys, 'callback_url' as const].map((key) => [key, place[key]]));
  const json = earlier.length === 0 ? bare(last) : { ...bare(last), earlier: earlier.map(bare) };
  ensureFolder(stateFolder);
  writeSecretFile(connectionPath(stateFolder), `${JSON.stringify(json, null, 2)}\n`);
}

function connectionPath(stateFolder: string): string {
  return join(stateFolder, 'sandbox.json');
}

/** Addresses of the control panel of a running sandbox. */
export interface PanelUrls {
  readonly home: string;
  /** The URL of the panel page with the list `droplets`, `migrations`, `applications`, `requests` or `timeline`. */
  page(name: string): string;
  droplet(id: string): string;
  migration(cluster: string): string;
}

/**
 * The pages of the control panel of this authorization server; undefined when it is not a sandbox of this machine: the
 * rules of the service name no address of its panel (docs/service.md S6.5).
 */
export function findPanelUrls(stateFolder: string, authOrigin: string | undefined): PanelUrls | undefined {
  const sandbox = readSandboxes(stateFolder).find(({ auth_url }) => auth_url === authOrigin);
  if (sandbox === undefined || !URL.canParse(sandbox.panel_url)) return undefined;
  const home = new URL(sandbox.panel_url).href;
  if (!/^https?:/.test(home)) return undefined;
  const page = (name: string): string => `${home}/${name}`;
  return {
    home,
    page,
    droplet: (id) => `${page('droplets')}?droplet=${encodeURIComponent(id)}`,
    migration: (cluster) => `${page('migrations')}#cluster-${encodeURIComponent(cluster)}`,
  };
}

/** Reads the recorded sandboxes; the list is empty if the record is damaged. */
function readSandboxes(stateFolder: string): readonly SandboxPlace[] {
  try {
    return knownSandboxes(stateFolder);
  } catch (error) {
    if (error instanceof CliError) return [];
    throw error;
  }
}
