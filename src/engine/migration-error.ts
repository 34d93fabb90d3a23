import { CliError } from '../errors.ts';
import { sanitizeLine } from '../sanitize/terminal-text.ts';
import type { Secret } from '../secret.ts';

/** The message of an error in one line. A server may quote the statement it was sent, so passwords are replaced. */
export function redactedReason(error: unknown, ...passwords: readonly (Secret | undefined)[]): string {
  const text = error instanceof CliError ? error.message : error instanceof Error ? error.message : String(error);
  return sanitizeLine(passwords.reduce<string>(redactPassword, text));
}

/** Passwords of fewer than four characters are not replaced: they would match parts of ordinary words. */
function redactPassword(text: string, password: Secret | undefined): string {
  const value = password?.reveal() ?? '';
  return value.length < 4 ? text : text.replaceAll(value, '[secret]');
}

/** The SQLSTATE or the code of the operating system (`ECONNREFUSED`); undefined: the error has none. */
export function engineErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Source and target of a migration are managed clusters. */
export const managedSourceMessage = 'the source is a managed cluster, which cannot be migrated to another one';

/** An error whose message is written for the user, without details of a driver. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
