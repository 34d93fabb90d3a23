/** Text of another machine, fit for a terminal: no control or direction characters, 300 characters at most. */
export function sanitizeRemoteText(text: string): string {
  return text
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, 300);
}
