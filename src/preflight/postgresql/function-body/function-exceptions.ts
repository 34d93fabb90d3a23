import { isGivenSqlKeyword, type SqlToken, tokenizeSqlFunctionBody } from './tokenize.ts';

/** How often a PL/pgSQL function raises an exception: in every call, in some cases, or never. */
export function estimateFunctionExceptionFrequency(body: string): 'always' | 'sometimes' | 'never' {
  const tokens = tokenizeSqlFunctionBody(body);
  const found = tokens.some((token, at) => isGivenSqlKeyword(token, 'raise') && isError(tokens[at + 1]));
  if (!found) return 'never';
  return tokens.some((token) => token.kind === 'word' && !token.quoted && branchingWords.has(token.text))
    ? 'sometimes'
    : 'always';
}

/** RAISE without a level means EXCEPTION. */
function isError(next: SqlToken | undefined): boolean {
  return !(next?.kind === 'word' && quietLevels.has(next.text));
}

const quietLevels: ReadonlySet<string> = new Set(['debug', 'log', 'info', 'notice', 'warning']);

/**
 * Keywords after which a statement is not executed in every case. An exception handler begins with WHEN, like a branch
 * of CASE.
 */
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
