import { quoteIdentifier } from '../../../postgresql/quote.ts';

/** The statement that lets a role read what only members of a monitoring role see. */
export function grantMonitorRole(user: string): string {
  return `GRANT pg_monitor, pg_read_all_settings TO ${quoteIdentifier(user)}`;
}

/**
 * Where somebody took from PUBLIC what everybody may read, no monitoring role gives it back, but for functions, whose arguments
 * the message leaves out. undefined: the message, which may be in any language, names nothing of the kind.
 */
export function grantOfPublicObject(message: string, user: string): string | undefined {
  const [, kind, name] = /^permission denied for (schema|table|view|relation) (pg_\w+)$/.exec(message) ?? [];
  if (kind === undefined || name === undefined || notPublic.has(name)) return undefined;
  const right = kind === 'schema' ? `USAGE ON SCHEMA ${name}` : `SELECT ON pg_catalog.${name}`;
  return `GRANT ${right} TO ${quoteIdentifier(user)}`;
}

/** These need a function as well, and their questions know which. */
const notPublic: ReadonlySet<string> = new Set(['pg_file_settings', 'pg_hba_file_rules']);
