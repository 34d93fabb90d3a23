import type { Meaning } from '../asks/evaluated-functions.ts';
import { isPlain, isSymbol, type Token } from './tokens.ts';

/** Where in a statement a name stands, and so what it names. */
export interface Place {
  isOuter(): boolean;
  /** A statement begins. */
  restart(): void;
  /** One token, whatever it is. */
  pass(tokens: readonly Token[], at: number): void;
  /** What the name from `at` to `end` is of; undefined: a column, a variable, an alias, a keyword. */
  read(tokens: readonly Token[], at: number, end: number, names: readonly string[]): Named | undefined;
}

/** A name, schema and all, and what it can only be of. */
export interface Named {
  readonly kind: Meaning['kind'];
  readonly names: readonly string[];
}

/** Between two parentheses. */
interface Level {
  /** It holds a query, so that FROM is not that of EXTRACT or TRIM. */
  hasQuery: boolean;
  /** In a list of relations. */
  isList: boolean;
  readonly isCast: boolean;
}

export function createPlace(): Place {
  let levels: Level[] = [{ hasQuery: true, isList: false, isCast: false }];
  const top = () => levels.at(-1)!;
  return {
    isOuter: () => levels.length === 1,
    restart() {
      levels = [{ hasQuery: true, isList: false, isCast: false }];
    },
    pass(tokens, at) {
      const token = tokens[at]!;
      if (token.kind === 'symbol') {
        if (token.text === '(') {
          const isList = top().isList && opensRelations(tokens[at - 1]);
          levels.push({ hasQuery: false, isList, isCast: isPlain(tokens[at - 1], 'cast') });
        } else if (token.text === ')' && levels.length > 1) levels.pop();
        else if (token.text === ';') top().isList = false;
        return;
      }
      if (token.kind !== 'word' || token.quoted) return;
      const level = top();
      if (queryWords.has(token.text)) [level.hasQuery, level.isList] = [true, false];
      else if (token.text === 'from') level.isList = isFrom(tokens, at, level);
      else if (listEnds.has(token.text)) level.isList = false;
    },
    read(tokens, at, end, names) {
      const before = tokens[at - 1];
      if (isSymbol(before, '::') || (top().isCast && isPlain(before, 'as'))) return { kind: 'type', names };
      if (isSymbol(tokens[end], '(') && !isPlain(before, 'into')) {
        const isKeyword = callers.has(tokens[at]!.text) && isPlain(tokens[at], tokens[at]!.text);
        return !isKeyword && (before === undefined || callsAfter(before)) ? { kind: 'function', names } : undefined;
      }
      if (isPlain(tokens[at], 'only') || isPlain(tokens[at], 'lateral')) return undefined;
      return isRelation(tokens, at, top()) ? { kind: 'relation', names } : undefined;
    },
  };
}

function isRelation(tokens: readonly Token[], at: number, level: Level): boolean {
  const [before, first] = [tokens[at - 1], tokens[at - 2]];
  if (isPlain(before, 'only')) return isRelation(tokens, at - 1, level);
  if (isPlain(before, 'join')) return true;
  if (isPlain(before, 'from')) return level.isList;
  if (isPlain(before, 'into')) return isPlain(first, 'insert') || isPlain(first, 'merge');
  // Not that of JOIN, which has parentheses; of DELETE.
  if (isPlain(before, 'using')) return level.isList;
  if (isPlain(before, 'update')) {
    return !isPlain(first, 'for') && !isPlain(first, 'do') && !isPlain(first, 'key') && !isPlain(tokens[at], 'set');
  }
  return level.isList && (isSymbol(before, ',') || isSymbol(before, '('));
}

function isFrom(tokens: readonly Token[], at: number, level: Level): boolean {
  if (!level.hasQuery || isPlain(tokens[at - 1], 'distinct')) return false;
  // A cursor is no relation: FETCH NEXT FROM c, MOVE FROM c.
  for (let back = at - 1; back >= 0 && back > at - 5; back -= 1) {
    if (isPlain(tokens[back], 'fetch') || isPlain(tokens[back], 'move')) return false;
  }
  return true;
}

function opensRelations(before: Token | undefined): boolean {
  return isPlain(before, 'from') || isPlain(before, 'join') || isSymbol(before, ',') || isSymbol(before, '(');
}

/** Not after an alias or another name, where the parenthesis holds names of columns. */
function callsAfter(before: Token): boolean {
  if (before.kind === 'string') return false;
  if (before.kind === 'symbol') return before.text !== ')' && before.text !== '.' && before.text !== ']';
  return !before.quoted && callers.has(before.text);
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const queryWords = words('select delete insert update merge perform values with');
const listEnds = words(
  'where group order having limit offset fetch union except intersect window returning set loop then for when into',
);
/** After these a call may stand, and none of them is the name of one unless it is quoted. */
const callers = words(
  'all and any assert between by call case distinct else elseif elsif except execute exists filter from having if ilike in intersect is join lateral like limit next not offset on or perform query return returning select set similar some then to union until using values when where while',
);
