import type { DbSource } from './read-source.ts';

/** The URL of a source or target, without its password: what a suggested command takes with `--source` or `--into`. */
export function sourceUrl({ engine, source }: DbSource): string {
  const user = source.username === undefined ? '' : `${encodeURIComponent(source.username)}@`;
  const scheme = engine === 'postgresql' ? 'postgres' : source.ssl === 'disable' ? 'redis' : 'rediss';
  const database = 'dbname' in source ? `/${encodeURIComponent(source.dbname)}` : '';
  const host = source.host.includes(':') ? `[${source.host}]` : source.host;
  return `${scheme}://${user}${host}:${source.port}${database}`;
}
