import { isUnquotedWord, type SqlToken, tokenize } from './tokenize.ts';

/** Whether the text of a function in PL/pgSQL ends in an exception: whatever happens, in some cases, or never. */
export function raisesException(body: string): 'always' | 'sometimes' | 'never' {
  const tokens = tokenize(body);
  const found = tokens.some((token, at) => isUnquotedWord(token, 'raise') && isError(tokens[at + 1]));
  if (!found) return 'never';
  return tokens.some((token) => token.kind === 'word' && !token.quoted && branchingWords.has(token.text))
    ? 'sometimes'
    : 'always';
}

/** EXCEPTION is the level of a RAISE that names none. */
function isError(next: SqlToken | undefined): boolean {
  return !(next?.kind === 'word' && quietLevels.has(next.text));
}

const quietLevels: ReadonlySet<string> = new Set(['debug', 'log', 'info', 'notice', 'warning']);

/** What may lead around a statement. A handler is `WHEN …`, like the branch of a CASE. */
const branchingWords: ReadonlySet<string> = new Set([
  'if',
  'case',
  'when',
  'for',
  'foreach',
  'while',
  'loop',
  'return',
  'execute',
]);
