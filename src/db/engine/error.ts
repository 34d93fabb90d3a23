import { CliError } from '../../base/errors.ts';
import { redactServerLine } from '../../base/redact.ts';
import type { Secret } from '../../base/secret.ts';

/**
 * Returns the message of an error in one line. Passwords in the message are replaced, because a server may quote the
 * statement that it received.
 */
export function redactReason(error: unknown, ...passwords: readonly (Secret | undefined)[]): string {
  const text = error instanceof CliError ? error.message : error instanceof Error ? error.message : String(error);
  return redactServerLine(text, passwords);
}

/** The SQLSTATE of an error, or its code from the operating system (`ECONNREFUSED`); undefined if it has none. */
export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** The error of a migration whose source and target are both managed clusters. */
export const managedSourceMessage = 'the source is a managed cluster, which cannot be migrated to another one';

/** An error whose message is written for the user, without details of a driver. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
