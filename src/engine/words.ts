import { CliError } from '../errors.ts';
import { cleaned } from '../platform/cleaned.ts';
import type { Secret } from '../secret.ts';

/** Why something failed, in one line, without the password: a server may quote what it was given. */
export function reasonOf(error: unknown, ...passwords: readonly (Secret | undefined)[]): string {
  const words = error instanceof CliError ? error.message : error instanceof Error ? error.message : String(error);
  return cleaned(passwords.reduce<string>(without, words));
}

/** Shorter ones would blot out harmless words, and tell no one anything. */
function without(words: string, password: Secret | undefined): string {
  const value = password?.reveal() ?? '';
  return value.length < 4 ? words : words.replaceAll(value, '[secret]');
}

/** The SQLSTATE or the word of the system; undefined for errors of other kinds. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** An error in our own words. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
