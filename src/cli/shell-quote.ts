/** Quotes `text` as one argument of a POSIX shell, only where the shell would otherwise change it. */
export function quoteShellArg(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
