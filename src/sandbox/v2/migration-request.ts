import type { RequestedSource } from '../../engine/requested-source.ts';
import type { SandboxMigrationSource } from '../records.ts';

/** Decodes an online migration request (spec §2); a string is a sentence about the field that cannot be taken. The password is looked at and dropped. */
export function decodeMigrationRequest(
  value: unknown,
  engine: 'postgresql' | 'redis',
): SandboxMigrationSource | string {
  if (!isObject(value)) return 'The request body must be a JSON object.';
  const { source, disable_ssl: disableSsl, ignore_dbs: ignoreDbs } = withoutNulls(value);
  if (source === undefined) return 'source is required.';
  if (!isObject(source)) return 'source must be an object.';
  const { host, port, dbname, username, password } = withoutNulls(source);
  if (typeof host !== 'string' || host.trim() === '') return 'source.host is required and must be a non-empty string.';
  if (port !== undefined && !(Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
    return 'source.port must be an integer from 1 to 65535.';
  }
  const texts = { dbname, username, password };
  const odd = Object.entries(texts).find(([, text]) => text !== undefined && typeof text !== 'string');
  if (odd !== undefined) return `source.${odd[0]} must be a string.`;
  if (engine === 'postgresql' && dbname === undefined && !host.includes('://')) return 'source.dbname is required.';
  if (disableSsl !== undefined && typeof disableSsl !== 'boolean') return 'disable_ssl must be true or false.';
  if (ignoreDbs !== undefined && !isTexts(ignoreDbs)) return 'ignore_dbs must be an array of strings.';
  if (engine === 'redis' && isTexts(ignoreDbs) && ignoreDbs.length > 0) return 'ignore_dbs is for PostgreSQL sources.';
  return {
    host: withoutSecrets(host),
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof dbname === 'string' ? { dbname } : {}),
    ...(typeof username === 'string' ? { username } : {}),
    disableSsl: disableSsl === true,
    ignoreDbs: isTexts(ignoreDbs) ? ignoreDbs : [],
  };
}

/** What moves the rows: the source whole, to be held by nobody but the engine. The request was decoded before. */
export function readRequestedSource(value: unknown, { disableSsl }: SandboxMigrationSource): RequestedSource {
  const source = isObject(value) ? withoutNulls(value).source : undefined;
  const { host, port, dbname, username, password } = isObject(source) ? withoutNulls(source) : {};
  return {
    host: typeof host === 'string' ? host : '',
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof dbname === 'string' ? { dbname } : {}),
    ...(typeof username === 'string' ? { username } : {}),
    ...(typeof password === 'string' ? { password } : {}),
    disableSsl,
  };
}

/** A connection string in the host field may hold a password and parameters; only where it leads is kept. */
function withoutSecrets(host: string): string {
  return host.replace(/^([a-z][a-z0-9+.-]*:\/\/)(?:.*@)?([^/?#]*).*$/is, '$1$2').slice(0, 300);
}

function withoutNulls(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
