import { join } from 'node:path';
import { readTextIfPresent } from '../platform/files.ts';
import type { ProcessEnvironment } from '../platform/host.ts';

/**
 * The connection string of a service: from PGSERVICEFILE or `~/.pg_service.conf`, else from the folder PGSYSCONFDIR
 * (https://www.postgresql.org/docs/current/libpq-pgservice.html); undefined if no file has the service.
 */
export function findPgServiceConnectionString(
  name: string,
  { PGSERVICEFILE = '', HOME = '', PGSYSCONFDIR = '' }: ProcessEnvironment,
): string | undefined {
  const own = PGSERVICEFILE !== '' ? PGSERVICEFILE : HOME === '' ? undefined : join(HOME, '.pg_service.conf');
  const files = [own, PGSYSCONFDIR === '' ? undefined : join(PGSYSCONFDIR, 'pg_service.conf')];
  for (const file of files) {
    const text = file === undefined ? undefined : readTextIfPresent(file);
    const found = text === undefined ? undefined : convertPgServiceToConnectionString(text, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The section of a service file as a connection string; undefined if there is no such section. */
export function convertPgServiceToConnectionString(text: string, name: string): string | undefined {
  let pairs: string[] | undefined;
  for (const line of text.split(/\r?\n/).map((each) => each.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const section = /^\[(.*)\]$/.exec(line);
    if (section !== null) {
      // As in libpq, the first of several sections with the same name applies.
      if (pairs !== undefined) break;
      if (section[1] === name) pairs = [];
    } else if (pairs !== undefined) {
      const at = line.indexOf('=');
      if (at > 0) pairs.push(`${line.slice(0, at).trim()}=${quoteConnectionValue(line.slice(at + 1).trim())}`);
    }
  }
  return pairs?.join(' ');
}

/** A value of a connection string of keywords and values. */
export function quoteConnectionValue(value: string): string {
  return `'${value.replace(/['\\]/g, '\\$&')}'`;
}
