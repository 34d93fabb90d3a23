import { sanitizeLine } from '../base/sanitize.ts';
import { showInvisible } from '../base/text.ts';

/**
 * Limits user input for quoting in an error: 60 characters at most; of a URL, which may contain a password, only scheme and host.
 * Invisible characters are shown.
 */
export function shortenInputForError(word: string): string {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#@]*)/i.exec(word);
  return url === null ? sanitizeLine(showInvisible(word), 60) : `${sanitizeLine(`${url[1]}${url[2]}`, 60)}…`;
}
