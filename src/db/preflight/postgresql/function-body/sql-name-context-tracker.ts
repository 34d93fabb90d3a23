import type { ObjectNamedInFunctionBody } from '../queries/named-objects.ts';
import { isGivenSqlKeyword, isGivenSqlSymbol, type SqlToken } from './tokenize.ts';

/** Tracks the context of a name in an SQL statement, which decides what kind of object the name stands for. */
interface SqlNameContextTracker {
  isOuter(): boolean;
  /** The caller must call this function when a new SQL statement begins. */
  restart(): void;
  /** Must be called with each token that is not part of a name, and with each name of one word. */
  pass(tokens: readonly SqlToken[], at: number): void;
  /**
   * The kind of object that the name at the tokens `at` to `end` stands for; undefined for a column, a variable, an
   * alias or a keyword.
   */
  read(
    tokens: readonly SqlToken[],
    at: number,
    end: number,
    names: readonly string[],
  ): SqlObjectNameWithKind | undefined;
}

/** An object name, with its schema if it has one, and the kind of the object. */
export interface SqlObjectNameWithKind {
  readonly kind: ObjectNamedInFunctionBody['kind'];
  readonly names: readonly string[];
}

/** The context inside one pair of parentheses. */
interface ParenthesisLevel {
  /** Whether the parentheses contain a query, so that FROM is not part of EXTRACT or TRIM. */
  hasQuery: boolean;
  /** Whether the token is inside a FROM list. */
  isList: boolean;
  /** Whether the token is inside a MERGE statement. */
  isMerge: boolean;
  readonly isCast: boolean;
}

export function createSqlNameContextTracker(): SqlNameContextTracker {
  let levels: ParenthesisLevel[] = [outerLevel()];
  const top = () => levels.at(-1)!;
  return {
    isOuter: () => levels.length === 1,
    restart() {
      levels = [outerLevel()];
    },
    pass(tokens, at) {
      const token = tokens[at]!;
      if (token.kind === 'symbol') {
        if (token.text === '(') {
          const isList = top().isList && opensRelations(tokens[at - 1]);
          levels.push({ hasQuery: false, isList, isMerge: false, isCast: isGivenSqlKeyword(tokens[at - 1], 'cast') });
        } else if (token.text === ')' && levels.length > 1) levels.pop();
        else if (token.text === ';') [top().isList, top().isMerge] = [false, false];
        return;
      }
      if (token.kind !== 'word' || token.quoted) return;
      const level = top();
      if (token.text === 'merge' && isGivenSqlKeyword(tokens[at + 1], 'into')) level.isMerge = true;
      if (queryWords.has(token.text)) [level.hasQuery, level.isList] = [true, false];
      else if (token.text === 'from') level.isList = isFrom(tokens, at, level);
      else if (token.text === 'using' && level.isMerge) level.isList = true;
      else if (listEnds.has(token.text)) level.isList = false;
    },
    read(tokens, at, end, names) {
      const before = tokens[at - 1];
      if (isGivenSqlSymbol(before, '::') || (top().isCast && isGivenSqlKeyword(before, 'as')))
        return { kind: 'type', names };
      if (isGivenSqlSymbol(tokens[end], '(') && !isGivenSqlKeyword(before, 'into')) {
        const { text } = tokens[at]!;
        // In MERGE, the INSERT of WHEN NOT MATCHED THEN INSERT (a, b) is not followed by a table name.
        const isClause = wordsBeforeCalls.has(text) || (text === 'insert' && top().isMerge);
        const isKeyword = isClause && isGivenSqlKeyword(tokens[at], text);
        return !isKeyword && (before === undefined || callsAfter(before, tokens[at - 2]))
          ? { kind: 'function', names }
          : undefined;
      }
      if (['only', 'lateral', 'table'].some((word) => isGivenSqlKeyword(tokens[at], word))) return undefined;
      return isRelation(tokens, at, top()) ? { kind: 'relation', names } : undefined;
    },
  };
}

function outerLevel(): ParenthesisLevel {
  return { hasQuery: true, isList: false, isMerge: false, isCast: false };
}

function isRelation(tokens: readonly SqlToken[], at: number, level: ParenthesisLevel): boolean {
  const [before, first] = [tokens[at - 1], tokens[at - 2]];
  if (isGivenSqlKeyword(before, 'only')) return isRelation(tokens, at - 1, level);
  if (isGivenSqlKeyword(before, 'join')) return true;
  if (isGivenSqlKeyword(before, 'from')) return level.isList;
  if (isGivenSqlKeyword(before, 'into')) return isGivenSqlKeyword(first, 'insert') || isGivenSqlKeyword(first, 'merge');
  if (isGivenSqlKeyword(before, 'table')) return first?.kind !== 'word' || !wordsBeforeDdlTable.has(first.text);
  // Only USING of DELETE and MERGE is followed by a table name; USING of JOIN is followed by parentheses.
  if (isGivenSqlKeyword(before, 'using')) return level.isList;
  if (isGivenSqlKeyword(before, 'update')) {
    return (
      !isGivenSqlKeyword(first, 'for') &&
      !isGivenSqlKeyword(first, 'do') &&
      !isGivenSqlKeyword(first, 'key') &&
      !isGivenSqlKeyword(tokens[at], 'set')
    );
  }
  return level.isList && (isGivenSqlSymbol(before, ',') || isGivenSqlSymbol(before, '('));
}

function isFrom(tokens: readonly SqlToken[], at: number, level: ParenthesisLevel): boolean {
  if (!level.hasQuery || isGivenSqlKeyword(tokens[at - 1], 'distinct')) return false;
  // In FETCH NEXT FROM c and MOVE FROM c, the name is a cursor.
  for (let back = at - 1; back >= 0 && back > at - 5; back -= 1) {
    if (isGivenSqlKeyword(tokens[back], 'fetch') || isGivenSqlKeyword(tokens[back], 'move')) return false;
  }
  return true;
}

function opensRelations(before: SqlToken | undefined): boolean {
  return (
    isGivenSqlKeyword(before, 'from') ||
    isGivenSqlKeyword(before, 'join') ||
    isGivenSqlSymbol(before, ',') ||
    isGivenSqlSymbol(before, '(')
  );
}

/** Parentheses after an alias or another name contain column names. */
function callsAfter(before: SqlToken, first: SqlToken | undefined): boolean {
  if (before.kind === 'string') return false;
  if (before.kind === 'symbol') return before.text !== ')' && before.text !== '.' && before.text !== ']';
  // Without TIME, ZONE is a name, because it is not a reserved word: FROM zone z(a, b)
  if (isGivenSqlKeyword(before, 'zone')) return isGivenSqlKeyword(first, 'time');
  return !before.quoted && wordsBeforeCalls.has(before.text);
}

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const queryWords = wordSet('select delete insert update merge perform values with');
const listEnds = wordSet(
  'where group order having limit offset fetch union except intersect window returning set loop then for when into',
);
/** Keywords that a function call may follow, and that are no function names unless quoted. */
const wordsBeforeCalls = wordSet(
  'all and any array assert between by call case distinct else elseif elsif except execute exists filter from having if ilike in intersect is join lateral like limit next not offset on or perform placing query return returning select set similar some then to union until using values when where while',
);
/**
 * In `CREATE TABLE t` and `DROP TABLE t`, TABLE is not the query `TABLE t`, and the table may not exist yet or no
 * longer.
 */
const wordsBeforeDdlTable = wordSet('alter create drop foreign into on temp temporary unlogged');
