import { unprintableCharacters } from './unprintable-characters.ts';

/**
 * Escapes the characters that JSON and YAML do not escape inside double-quoted strings; the data stays the same. The characters
 * U+FFFE and U+FFFF are not allowed in YAML (https://yaml.org/spec/1.2.2/#51-character-set).
 */
export function escapeUnprintable(encoded: string): string {
  return encoded.replace(unprintableCharacters, (found) =>
    Array.from({ length: found.length }, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  );
}
