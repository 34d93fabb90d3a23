import { sanitizeLine } from '../base/sanitize.ts';

const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Limits user input for quoting in an error: 60 characters at most; of a URL, which may contain a password, only scheme and host.
 * An invisible character is shown as an escape, because it may be all that is wrong, as the CR of a Windows file.
 */
export function shortenInputForError(word: string): string {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#@]*)/i.exec(word);
  return url === null
    ? sanitizeLine(word.replace(invisible, showCharacter), 60)
    : `${sanitizeLine(`${url[1]}${url[2]}`, 60)}…`;
}

function showCharacter(character: string): string {
  const short = JSON.stringify(character).slice(1, -1);
  return short.startsWith('\\') ? short : `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
