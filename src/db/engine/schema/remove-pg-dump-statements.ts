/**
 * Removes certain statements from a script of pg_dump. Only correctness depends on this function, not security: the
 * script runs with the privileges of a role that is no superuser, whatever names or function bodies in the script
 * contain.
 * @param isLeftOut receives the statement without comments and white space before it
 */
export function removePgDumpStatements(script: string, isLeftOut: (statement: string) => boolean): string {
  return splitStatements(script)
    .filter((piece) => !isLeftOut(piece.replace(leadingComments, '')))
    .join('');
}

const leadingComments = /^(?:\s+|--[^\n]*\n)*/;

/** Quotes are doubled in a string, so `'a''b'` is read as two strings. */
const token = /'[^']*'?|"[^"]*"?|--[^\n]*|\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|;/g;

/** Splits the script into parts that end with a semicolon outside of quotes and comments. */
function splitStatements(script: string): readonly string[] {
  const pieces: string[] = [];
  let start = 0;
  token.lastIndex = 0;
  for (let found = token.exec(script); found !== null; found = token.exec(script)) {
    const [text] = found;
    if (text.startsWith('$')) {
      const end = script.indexOf(text, token.lastIndex);
      token.lastIndex = end === -1 ? script.length : end + text.length;
    } else if (text === ';') {
      pieces.push(script.slice(start, token.lastIndex));
      start = token.lastIndex;
    }
  }
  return [...pieces, script.slice(start)];
}
