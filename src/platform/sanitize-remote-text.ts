/** Text of a server that is safe to print: without control and bidi characters, at most 300 characters. */
export function sanitizeRemoteText(text: string): string {
  return text
    .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(0, 300);
}
