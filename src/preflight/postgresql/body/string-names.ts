import type { Named } from './place.ts';
import { chainAt, isPlain, isSymbol, type Token, tokensOf } from './tokens.ts';

/** The name in a string that is looked up when it runs: `nextval('a')`, `'a.b'::regclass`, `regtype 'a'`, `CAST('a' AS regproc)`. */
export function stringNameAt(tokens: readonly Token[], at: number): Named | undefined {
  const token = tokens[at];
  if (token?.kind !== 'string') return undefined;
  const kind = kinds[lookupOf(tokens, at) ?? ''];
  const inside = tokensOf(token.text);
  const names = chainAt(inside, 0);
  const next = inside[names.length * 2 - 1];
  const isWhole = next === undefined || (kind === 'function' && isSymbol(next, '('));
  return kind === undefined || names.length === 0 || !isWhole ? undefined : { kind, names };
}

/** The word that makes a name of it. */
function lookupOf(tokens: readonly Token[], at: number): string | undefined {
  const [called, before, next, type] = [tokens[at - 2], tokens[at - 1], tokens[at + 1], tokens[at + 2]];
  if (isSymbol(next, '::') || (isPlain(next, 'as') && isSymbol(before, '(') && isPlain(called, 'cast'))) {
    const names = chainAt(tokens, at + 2);
    const cast = type?.kind === 'word' ? names.at(-1) : undefined;
    // `nextval('a'::text)` is nextval all the same.
    const isText = isSymbol(next, '::') && cast !== undefined && texts.has(cast) && isSymbol(before, '(');
    return isText && called?.kind === 'word' ? called.text : cast;
  }
  if (before?.kind === 'word' && before.text.startsWith('reg')) return before.text;
  return isSymbol(before, '(') && called?.kind === 'word' && !called.text.startsWith('reg') ? called.text : undefined;
}

const texts: ReadonlySet<string> = new Set(['text', 'varchar', 'name', 'cstring']);

const kinds: Readonly<Record<string, Named['kind']>> = {
  regclass: 'relation',
  to_regclass: 'relation',
  nextval: 'relation',
  currval: 'relation',
  setval: 'relation',
  pg_get_serial_sequence: 'relation',
  regtype: 'type',
  to_regtype: 'type',
  regproc: 'function',
  regprocedure: 'function',
  to_regproc: 'function',
  to_regprocedure: 'function',
};
