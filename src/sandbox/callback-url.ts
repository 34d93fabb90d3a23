/** Throws unless the URL is absolute, ASCII, without a fragment (RFC 6749 §3.1.2), and http, https or a private-use scheme (RFC 8252 §7.1). */
export function requireRegistrableCallbackUrl(text: string): void {
  const problem = problemOf(text);
  if (problem !== undefined) throw new Error(`callback URL ${JSON.stringify(text)} ${problem}`);
}

function problemOf(text: string): string | undefined {
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return 'is not an absolute ASCII URL';
  if (text.includes('#')) return 'has a fragment';
  const { protocol } = new URL(text);
  return protocol === 'http:' || protocol === 'https:' || protocol.includes('.')
    ? undefined
    : 'has a scheme other than http, https or a private-use scheme, which contains a dot';
}
