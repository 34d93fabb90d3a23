/** `text` as one argument of a POSIX shell: quoted only where the shell would change it. */
export function quoteShellArg(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
