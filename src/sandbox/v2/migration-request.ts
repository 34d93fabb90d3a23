import type { RequestedSource } from '../../db/engine/index.ts';
import { isJsonObject, isStringArray } from '../http/json-text.ts';
import type { SandboxMigrationSource } from '../records.ts';
import { getStorableSourceHost, SOURCE_FIELD_NOT_STORED } from './storable-source-host.ts';

/**
 * Decodes an online migration request (docs/service.md S9.2); if the result is a string, it is the error message for one field. The type of
 * the password is checked, but the password is not stored. libpq also reads a connection string in the field dbname.
 */
export function decodeSandboxMigrationRequest(
  value: unknown,
  engine: 'postgresql' | 'redis',
): SandboxMigrationSource | string {
  if (!isJsonObject(value)) return 'The request body must be a JSON object.';
  const { source, disable_ssl: disableSsl, ignore_dbs: ignoreDbs } = withoutNulls(value);
  if (source === undefined) return 'source is required.';
  if (!isJsonObject(source)) return 'source must be an object.';
  const { host, port, dbname, username, password } = withoutNulls(source);
  if (typeof host !== 'string' || host.trim() === '') return 'source.host is required and must be a non-empty string.';
  if (port !== undefined && !(Number.isInteger(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
    return 'source.port must be an integer from 1 to 65535.';
  }
  const strings = { dbname, username, password };
  const invalid = Object.entries(strings).find(([, text]) => text !== undefined && typeof text !== 'string');
  if (invalid !== undefined) return `source.${invalid[0]} must be a string.`;
  if (engine === 'postgresql' && dbname === undefined && !isPostgresqlConnectionString(host))
    return 'source.dbname is required.';
  if (disableSsl !== undefined && typeof disableSsl !== 'boolean') return 'disable_ssl must be true or false.';
  if (ignoreDbs !== undefined && !isStringArray(ignoreDbs)) return 'ignore_dbs must be an array of strings.';
  if (engine === 'redis' && isStringArray(ignoreDbs) && ignoreDbs.length > 0)
    return 'ignore_dbs is only valid for PostgreSQL sources.';
  return {
    host: getStorableSourceHost(host),
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof dbname === 'string' ? { dbname: /=|:\/\//.test(dbname) ? SOURCE_FIELD_NOT_STORED : dbname } : {}),
    ...(typeof username === 'string' ? { username } : {}),
    disableSsl: disableSsl === true,
    ignoreDbs: isStringArray(ignoreDbs) ? ignoreDbs : [],
  };
}

/**
 * Reads the source with its password, which must not be stored. The caller must call the function only after
 * `decodeSandboxMigrationRequest` has accepted the request.
 */
export function readRequestedMigrationSource(value: unknown, { disableSsl }: SandboxMigrationSource): RequestedSource {
  const source = isJsonObject(value) ? withoutNulls(value).source : undefined;
  const { host, port, dbname, username, password } = isJsonObject(source) ? withoutNulls(source) : {};
  return {
    host: typeof host === 'string' ? host : '',
    ...(typeof port === 'number' ? { port } : {}),
    ...(typeof dbname === 'string' ? { dbname } : {}),
    ...(typeof username === 'string' ? { username } : {}),
    ...(typeof password === 'string' ? { password } : {}),
    disableSsl,
  };
}

/** Whether the host field is a URL, or keywords and values with a database name (libpq). */
function isPostgresqlConnectionString(host: string): boolean {
  return host.includes('://') || /(^|\s)dbname\s*=/.test(host);
}

function withoutNulls(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));
}
