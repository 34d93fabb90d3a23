import { isGivenSqlSymbol, qualifiedNameAt, type SqlToken } from './tokenize.ts';

/** An operand: `$1` or a word, which may be an argument of the function, or the type of a cast. */
export type ArgumentOrTypeOperand = { readonly argument: string } | { readonly type: string };

/** The left and the right operand of an operator; undefined if the type is not known. */
export type OperandPair = readonly [left: ArgumentOrTypeOperand | undefined, right: ArgumentOrTypeOperand | undefined];

/**
 * The operands of the operator at a position; undefined if the token is not an operator, is qualified with a schema, or
 * is an assignment.
 */
export function readSqlOperatorOperands(tokens: readonly SqlToken[], at: number): OperandPair | undefined {
  const [before, token] = [tokens[at - 1], tokens[at]];
  if (token?.kind !== 'symbol' || !operator.test(token.text) || isGivenSqlSymbol(before, '.')) return undefined;
  if (token.text === '=' && !comparesAfter(tokens[at - 2])) return undefined;
  return [leftOf(tokens, at), rightOf(tokens, at)];
}

function leftOf(tokens: readonly SqlToken[], at: number): ArgumentOrTypeOperand | undefined {
  const token = tokens[at - 1];
  const isPart = isGivenSqlSymbol(tokens[at - 2], '.');
  if (token?.kind === 'word' && isGivenSqlSymbol(tokens[at - (isPart ? 4 : 2)], '::')) return { type: token.text };
  return isPart ? undefined : argumentOf(token);
}

function rightOf(tokens: readonly SqlToken[], at: number): ArgumentOrTypeOperand | undefined {
  const isCast = isGivenSqlSymbol(tokens[at + 2], '::');
  const names = isCast ? qualifiedNameAt(tokens, at + 3) : [];
  const end = isCast ? at + 2 + names.length * 2 : at + 2;
  if (['.', '::', '(', '['].some((text) => isGivenSqlSymbol(tokens[end], text))) return undefined;
  const type = names.at(-1);
  if (isCast) return type === undefined ? undefined : { type };
  return argumentOf(tokens[at + 1]);
}

function argumentOf(token: SqlToken | undefined): ArgumentOrTypeOperand | undefined {
  const isOne = token?.kind === 'word' || (token?.kind === 'symbol' && /^\$\d+$/.test(token.text));
  return isOne ? { argument: token.text } : undefined;
}

/** In PL/pgSQL and in UPDATE statements `=` is also an assignment. */
function comparesAfter(token: SqlToken | undefined): boolean {
  return isGivenSqlSymbol(token, '(') || (token?.kind === 'word' && !token.quoted && comparing.has(token.text));
}

const operator = /^[-+*/<>=~!@#%^&|`?]+$/;
const comparing: ReadonlySet<string> = new Set('and if elsif not on or return select when where while'.split(' '));
