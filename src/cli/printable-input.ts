import { sanitizeLine } from '../sanitize/terminal-text.ts';

/** User input as an error may quote it: 60 characters at most; only scheme and host of a URL, which may contain a password. */
export function printableInput(word: string): string {
  const url = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^/?#@]*)/i.exec(word);
  return url === null ? sanitizeLine(word, 60) : `${sanitizeLine(`${url[1]}${url[2]}`, 60)}…`;
}
