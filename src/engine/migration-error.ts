import { CliError } from '../errors.ts';
import { sanitizeRemoteText } from '../platform/sanitize-remote-text.ts';
import type { Secret } from '../secret.ts';

/** Why something failed, in one line, without the password: a server may quote what it was given. */
export function redactedReason(error: unknown, ...passwords: readonly (Secret | undefined)[]): string {
  const words = error instanceof CliError ? error.message : error instanceof Error ? error.message : String(error);
  return sanitizeRemoteText(passwords.reduce<string>(redactPassword, words));
}

/** Shorter ones would blot out harmless words, and tell no one anything. */
function redactPassword(words: string, password: Secret | undefined): string {
  const value = password?.reveal() ?? '';
  return value.length < 4 ? words : words.replaceAll(value, '[secret]');
}

/** The SQLSTATE or the word of the system; undefined for errors of other kinds. */
export function engineErrorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** An error in our own words. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
