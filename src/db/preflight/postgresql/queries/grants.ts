import { quoteIdentifier } from '../../../../postgresql/quote.ts';

/** The GRANT statement that allows a role to read what only members of the monitoring roles can read. */
export function buildGrantMonitorRoleStatement(user: string): string {
  return `GRANT pg_monitor, pg_read_all_settings TO ${quoteIdentifier(user)}`;
}

/**
 * The GRANT statement for a catalog object that PUBLIC can read by default, used after that privilege was revoked,
 * because the monitoring roles do not include it. undefined if the error message names no such object, or is not in
 * English.
 */
export function buildCatalogGrantFromError(message: string, user: string): string | undefined {
  const [, kind, name] = /^permission denied for (schema|table|view|relation) (pg_\w+)$/.exec(message) ?? [];
  if (kind === undefined || name === undefined || notPublic.has(name)) return undefined;
  const right = kind === 'schema' ? `USAGE ON SCHEMA ${name}` : `SELECT ON pg_catalog.${name}`;
  return `GRANT ${right} TO ${quoteIdentifier(user)}`;
}

/**
 * Views for which GRANT SELECT is not sufficient, because a role also needs EXECUTE on a function. The queries of these
 * views define their own GRANT statement.
 */
const notPublic: ReadonlySet<string> = new Set(['pg_file_settings', 'pg_hba_file_rules']);
