import { quoteIdentifier } from '../../postgresql/quote.ts';

/**
 * The name of an object that the server reported, quoted for a statement that a person may run. A server that is not PostgreSQL
 * can report names that no object has: an empty name, and one with NUL, become an empty quoted name, which every server refuses.
 */
export function quoteServerReportedName(name: string): string {
  return name === '' || name.includes('\0') ? '""' : quoteIdentifier(name);
}
