/** Text of another machine, fit for a terminal: no control or direction characters, 300 characters at most. */
export function cleaned(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 300);
}
