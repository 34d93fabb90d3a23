import type { DbSource } from './read-source.ts';

/**
 * The URL of a source without its password, for `--source` in a suggested command. The URL has the parameters that verify
 * the certificate. It does not say whether TLS is used: the option `--disable-ssl` does.
 */
export function buildSourceUrlWithoutPassword(server: DbSource): string {
  return buildUrl(server, verificationParameters(server));
}

/**
 * The URL of a target, without its password. No option turns TLS off for a target, so the URL says it
 * (`sslmode=disable`).
 */
export function buildTargetUrlWithoutPassword(server: DbSource): string {
  const isUnencrypted = server.engine === 'postgresql' && server.source.ssl === 'disable';
  return buildUrl(server, isUnencrypted ? { sslmode: 'disable' } : verificationParameters(server));
}

function buildUrl({ engine, source }: DbSource, parameters: Readonly<Record<string, string>>): string {
  const user = source.username === undefined ? '' : `${encodeURIComponent(source.username)}@`;
  const scheme = engine === 'postgresql' ? 'postgres' : source.ssl === 'disable' ? 'redis' : 'rediss';
  const database = 'dbname' in source ? `/${encodeURIComponent(source.dbname)}` : '';
  const host = source.host.includes(':') ? `[${source.host}]` : source.host;
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `${scheme}://${user}${host}:${source.port}${database}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

function verificationParameters({ engine, source }: DbSource): Readonly<Record<string, string>> {
  if (engine !== 'postgresql' || source.verify === undefined) return {};
  const { what, ca } = source.verify;
  return {
    sslmode: what === 'full' ? 'verify-full' : 'verify-ca',
    ...(ca === undefined ? {} : { sslrootcert: ca.file }),
  };
}
