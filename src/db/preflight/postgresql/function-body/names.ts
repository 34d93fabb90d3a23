import type { NamedObject } from '../queries/function-bodies.ts';
import {
  closingParentheses,
  isSqlKeyword,
  isSqlSymbol,
  isStart,
  type OperandPair,
  qualifiedNameAt,
  readImpliedOperator,
  readOperands,
  type SqlToken,
  tokenizeBody,
} from './tokenize.ts';

/** Tracks the context of a name in an SQL statement, which decides what kind of object the name stands for. */
interface ContextTracker {
  isOuter(): boolean;
  /** The caller must call this function when a new SQL statement begins. */
  restart(): void;
  /** Must be called with each token that is not part of a name, and with each name of one word. */
  pass(tokens: readonly SqlToken[], at: number): void;
  /**
   * The kind of object that the name at the tokens `at` to `end` stands for; undefined for a column, a variable, an
   * alias or a keyword.
   */
  read(tokens: readonly SqlToken[], at: number, end: number, names: readonly string[]): ObjectName | undefined;
}

/** An object name, with its schema if it has one, and the kind of the object. */
interface ObjectName {
  readonly kind: NamedObject['kind'];
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

function createContextTracker(): ContextTracker {
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
          levels.push({ hasQuery: false, isList, isMerge: false, isCast: isSqlKeyword(tokens[at - 1], 'cast') });
        } else if (token.text === ')' && levels.length > 1) levels.pop();
        else if (token.text === ';') [top().isList, top().isMerge] = [false, false];
        return;
      }
      if (token.kind !== 'word' || token.quoted) return;
      const level = top();
      if (token.text === 'merge' && isSqlKeyword(tokens[at + 1], 'into')) level.isMerge = true;
      const isOption = token.text === 'with' && withOptions.some((word) => isSqlKeyword(tokens[at + 1], word));
      if (queryWords.has(token.text) && !isOption) [level.hasQuery, level.isList] = [true, false];
      else if (token.text === 'from' && !isSqlKeyword(tokens[at - 1], 'distinct'))
        level.isList = isFrom(tokens, at, level);
      else if (token.text === 'using' && level.isMerge) level.isList = true;
      else if (listEnds.has(token.text)) level.isList = false;
    },
    read(tokens, at, end, names) {
      const before = tokens[at - 1];
      if (isSqlSymbol(before, '::') || (top().isCast && isSqlKeyword(before, 'as'))) return { kind: 'type', names };
      if (isSqlKeyword(before, 'collate')) return { kind: 'collation', names };
      if (isSqlSymbol(tokens[end], '(') && !isSqlKeyword(before, 'into')) {
        const { text } = tokens[at]!;
        // In MERGE, the INSERT of WHEN NOT MATCHED THEN INSERT (a, b) is not followed by a table name.
        const isClause = wordsBeforeCalls.has(text) || (text === 'insert' && top().isMerge);
        const isKeyword = isClause && isSqlKeyword(tokens[at], text);
        return !isKeyword && (before === undefined || callsAfter(before, tokens[at - 2]))
          ? { kind: 'function', names }
          : undefined;
      }
      // A query in parentheses: FROM (SELECT …), FROM (WITH …).
      if (notRelations.some((word) => isSqlKeyword(tokens[at], word))) return undefined;
      if (isSqlKeyword(tokens[at], 'rows') && isSqlKeyword(tokens[at + 1], 'from')) return undefined;
      return isRelation(tokens, at, top()) ? { kind: 'relation', names } : undefined;
    },
  };
}

function outerLevel(): ParenthesisLevel {
  return { hasQuery: true, isList: false, isMerge: false, isCast: false };
}

function isRelation(tokens: readonly SqlToken[], at: number, level: ParenthesisLevel): boolean {
  const [before, first] = [tokens[at - 1], tokens[at - 2]];
  if (isSqlKeyword(before, 'only')) return isRelation(tokens, at - 1, level);
  if (isSqlKeyword(before, 'join')) return true;
  if (isSqlKeyword(before, 'from')) return level.isList && !isSqlKeyword(first, 'distinct');
  if (isSqlKeyword(before, 'into')) return isSqlKeyword(first, 'insert') || isSqlKeyword(first, 'merge');
  if (isSqlKeyword(before, 'table')) return first?.kind !== 'word' || !wordsBeforeDdlTable.has(first.text);
  // Only USING of DELETE and MERGE is followed by a table name; USING of JOIN is followed by parentheses.
  if (isSqlKeyword(before, 'using')) return level.isList;
  if (isSqlKeyword(before, 'update')) {
    return (
      !isSqlKeyword(first, 'for') &&
      !isSqlKeyword(first, 'do') &&
      !isSqlKeyword(first, 'key') &&
      !isSqlKeyword(tokens[at], 'set')
    );
  }
  return level.isList && (isSqlSymbol(before, ',') || isSqlSymbol(before, '('));
}

function isFrom(tokens: readonly SqlToken[], at: number, level: ParenthesisLevel): boolean {
  if (!level.hasQuery) return false;
  // In FETCH NEXT FROM c and MOVE FROM c, the name is a cursor.
  let back = at - 1;
  while (back > at - 5 && isDirection(tokens[back])) back -= 1;
  const isCursor = isSqlKeyword(tokens[back], 'fetch') || isSqlKeyword(tokens[back], 'move');
  if (isCursor && isStart(tokens, back)) return false;
  return true;
}

function isDirection(token: SqlToken | undefined): boolean {
  return (
    isSqlSymbol(token, '-') ||
    (token?.kind !== 'string' &&
      /^\d+$|^(?:next|prior|first|last|absolute|relative|forward|backward|all)$/.test(token?.text ?? ''))
  );
}

function opensRelations(before: SqlToken | undefined): boolean {
  return (
    ['from', 'join', 'only'].some((word) => isSqlKeyword(before, word)) ||
    isSqlSymbol(before, ',') ||
    isSqlSymbol(before, '(')
  );
}

/** Parentheses after an alias or another name contain column names. */
function callsAfter(before: SqlToken, first: SqlToken | undefined): boolean {
  if (before.kind === 'string') return false;
  if (before.kind === 'symbol') return before.text !== ')' && before.text !== '.' && before.text !== ']';
  // Without TIME, ZONE is a name, because it is not a reserved word: FROM zone z(a, b)
  if (isSqlKeyword(before, 'zone')) return isSqlKeyword(first, 'time');
  return !before.quoted && wordsBeforeCalls.has(before.text);
}

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '));

const queryWords = wordSet('select delete insert update merge perform values with');
/** WITH ORDINALITY and the like begin no query. */
const withOptions = ['ordinality', 'ties', 'time'];
const notRelations = ['only', 'lateral', 'table', 'select', 'with', 'values'];
const listEnds = wordSet(
  'where group order having limit offset fetch union except intersect window returning set loop then for when into',
);
/** Keywords that a function call may follow, and that are no function names unless quoted. */
const wordsBeforeCalls = wordSet(
  'all and any array assert between by call case distinct else elseif elsif except execute exists filter from having if ilike in intersect is join lateral like limit next not offset on only or perform placing query return returning select set similar some then to union until using values when where while',
);
/**
 * In `CREATE TABLE t` and `DROP TABLE t`, TABLE is not the query `TABLE t`, and the table may not exist yet or no
 * longer.
 */
const wordsBeforeDdlTable = wordSet('alter create drop foreign into on temp temporary unlogged');

/**
 * The object name in a string that PostgreSQL resolves when the function runs: `nextval('a')`, `'a.b'::regclass`,
 * `regtype 'a'`, `CAST('a' AS regproc)`, `to_tsvector('a', b)`.
 */
function readObjectName(tokens: readonly SqlToken[], at: number): ObjectName | undefined {
  const token = tokens[at];
  if (token?.kind !== 'string') return undefined;
  const word = lookupOf(tokens, at) ?? '';
  const kind = kindByFunction[word] ?? kindByLaterArguments(tokens, at, word);
  const inside = tokenizeBody(token.text);
  const names = qualifiedNameAt(inside, 0);
  const next = inside[names.length * 2 - 1];
  const isWhole = next === undefined || (kind === 'function' && isSqlSymbol(next, '('));
  return kind === undefined || names.length === 0 || !isWhole ? undefined : { kind, names };
}

/**
 * Some functions interpret their first argument as the name of an object only if they are called with a certain number
 * of arguments.
 */
function kindByLaterArguments(tokens: readonly SqlToken[], at: number, word: string): ObjectName['kind'] | undefined {
  if (!isSqlSymbol(tokens[at + 1], ',')) return undefined;
  return firstOfSeveral[word] ?? (isSqlSymbol(tokens[at + 3], ')') ? firstOfTwo[word] : undefined);
}

/** The function or type that resolves the name in the string. */
function lookupOf(tokens: readonly SqlToken[], at: number): string | undefined {
  const [called, before, next, type] = [tokens[at - 2], tokens[at - 1], tokens[at + 1], tokens[at + 2]];
  if (
    isSqlSymbol(next, '::') ||
    (isSqlKeyword(next, 'as') && isSqlSymbol(before, '(') && isSqlKeyword(called, 'cast'))
  ) {
    const names = qualifiedNameAt(tokens, at + 2);
    const cast = type?.kind === 'word' ? names.at(-1) : undefined;
    // In `nextval('a'::text)` the function nextval resolves the name `a`, although the string is cast to text.
    const isText = isSqlSymbol(next, '::') && cast !== undefined && textTypes.has(cast) && isSqlSymbol(before, '(');
    return isText && called?.kind === 'word' ? called.text : cast;
  }
  if (before?.kind === 'word' && before.text.startsWith('reg')) return before.text;
  // A variable of PL/pgSQL: `r regclass := 'a'`.
  const isInitialValue = isSqlSymbol(before, ':=') || isSqlSymbol(before, '=') || isSqlKeyword(before, 'default');
  if (isInitialValue && called?.kind === 'word' && called.text.startsWith('reg')) return called.text;
  return isSqlSymbol(before, '(') && called?.kind === 'word' && !called.text.startsWith('reg')
    ? called.text
    : undefined;
}

const textTypes: ReadonlySet<string> = new Set(['text', 'varchar', 'name', 'cstring']);

const kindByFunction: Readonly<Record<string, ObjectName['kind']>> = {
  regclass: 'relation',
  to_regclass: 'relation',
  nextval: 'relation',
  currval: 'relation',
  setval: 'relation',
  pg_get_serial_sequence: 'relation',
  // The functions of PostgreSQL 10 to 18 with an argument of type regclass.
  brin_desummarize_range: 'relation',
  brin_summarize_new_values: 'relation',
  brin_summarize_range: 'relation',
  gin_clean_pending_list: 'relation',
  pg_column_is_updatable: 'relation',
  pg_get_replica_identity_index: 'relation',
  pg_index_column_has_property: 'relation',
  pg_index_has_property: 'relation',
  pg_indexes_size: 'relation',
  pg_partition_ancestors: 'relation',
  pg_partition_root: 'relation',
  pg_partition_tree: 'relation',
  pg_relation_filenode: 'relation',
  pg_relation_filepath: 'relation',
  pg_relation_is_publishable: 'relation',
  pg_relation_is_updatable: 'relation',
  pg_relation_size: 'relation',
  pg_table_size: 'relation',
  pg_total_relation_size: 'relation',
  table_to_xml: 'relation',
  table_to_xml_and_xmlschema: 'relation',
  table_to_xmlschema: 'relation',
  // Functions that look up a name given as text.
  currtid2: 'relation',
  pg_get_viewdef: 'relation',
  row_security_active: 'relation',
  pg_basetype: 'type',
  regtype: 'type',
  to_regtype: 'type',
  regproc: 'function',
  regprocedure: 'function',
  to_regproc: 'function',
  to_regprocedure: 'function',
  regconfig: 'text search configuration',
  regdictionary: 'text search dictionary',
};

/** Functions whose first argument is the name of an object only if there are several arguments. */
const firstOfSeveral: Readonly<Record<string, ObjectName['kind']>> = {
  to_tsvector: 'text search configuration',
  json_to_tsvector: 'text search configuration',
  jsonb_to_tsvector: 'text search configuration',
  to_tsquery: 'text search configuration',
  plainto_tsquery: 'text search configuration',
  phraseto_tsquery: 'text search configuration',
  websearch_to_tsquery: 'text search configuration',
  ts_headline: 'text search configuration',
  ts_lexize: 'text search dictionary',
  unaccent: 'text search dictionary',
};

/** Functions whose first argument is a role if there are three arguments. */
const firstOfTwo: Readonly<Record<string, ObjectName['kind']>> = {
  has_any_column_privilege: 'relation',
  has_sequence_privilege: 'relation',
  has_table_privilege: 'relation',
  has_function_privilege: 'function',
  has_type_privilege: 'type',
};

/** Tracks the control flow of a function body while its tokens are read in order. */
interface FlowTracker {
  /**
   * Must be called with every token of the function body, in order. `isOuter`: whether the token is outside of
   * parentheses.
   */
  take(token: SqlToken, isOuter: boolean): void;
  /** Whether the current token is executed in every call of the function, unless an earlier statement returned. */
  isReached(): boolean;
  /** Whether the current statement is EXECUTE, which runs a string as a statement. */
  isDynamic(): boolean;
  /** Whether the next token begins a declaration or a statement. */
  isStart(): boolean;
  isDeclaring(): boolean;
}

/** Control flow of a body in the language SQL, which has no branches. */
function createSqlFlow(): FlowTracker {
  return { take() {}, isReached: () => true, isDynamic: () => false, isStart: () => false, isDeclaring: () => false };
}

/** Control flow of a PL/pgSQL body, which begins with a block or with declarations. */
function createPlpgsqlFlow(): FlowTracker {
  /**
   * Open blocks, branches and loops of a function body. `armed`: the condition of the branch or loop has been read, so
   * the statements that follow may not run.
   */
  const frames: { word: string; armed: boolean }[] = [];
  let isStart = true;
  let isDeclaring = false;
  let isDynamic = false;
  /** Nesting depth of CASE expressions, which contain the keywords THEN, ELSE and END too. */
  let cases = 0;
  let isClosed = false;
  let isLabel = false;
  /**
   * `isLeaving`: the token is inside a RETURN statement; `isOver`: the token follows a RETURN that every call executes.
   */
  let isLeaving = false;
  let isOver = false;
  return {
    take(token, isOuter) {
      const text = token.kind === 'string' || (token.kind === 'word' && token.quoted) ? '' : token.text;
      const began = isStart;
      isStart = false;
      if (text === 'execute') isDynamic = true;
      if (began && text === 'return') isLeaving = true;
      else if (isLeaving && (text === 'next' || text === 'query')) isLeaving = false;
      if (text === ';' && isOuter) {
        if (isLeaving && frames.every(({ word }) => word === 'begin')) isOver = true;
        isLeaving = false;
        [isStart, isDynamic, isClosed, cases] = [true, false, false, 0];
        return;
      }
      if (isClosed || !isOuter) return;
      if (began && text === 'end') {
        frames.pop();
        isClosed = true;
      } else if (began && text === 'declare') [isDeclaring, isStart] = [true, true];
      else if (began && text === 'begin') {
        frames.push({ word: 'begin', armed: false });
        [isDeclaring, isStart] = [false, true];
      } else if (began && blockOpeners.has(text) && !isDeclaring) {
        frames.push({ word: text, armed: text === 'loop' });
        isStart = text === 'loop';
      } else if (text === 'case') cases += 1;
      else if (text === 'end' && cases > 0) cases -= 1;
      else if (cases === 0 && (text === 'then' || text === 'else' || text === 'loop')) {
        const frame = frames.at(-1);
        // The ELSE branch of IF counts as always executed, like the statements after `IF … THEN RETURN … END IF`.
        if (frame !== undefined && frame.word !== 'begin') frame.armed = text !== 'else' || frame.word !== 'if';
        isStart = true;
      } else if (began && text === '<<') isLabel = true;
      else if (isLabel && text === '>>') [isLabel, isStart] = [false, true];
    },
    isReached: () => !isOver && frames.every(({ armed }) => !armed),
    isDynamic: () => isDynamic,
    isStart: () => isStart,
    isDeclaring: () => isDeclaring,
  };
}

const blockOpeners: ReadonlySet<string> = new Set(['if', 'case', 'for', 'while', 'foreach', 'loop']);

/** A name in a function body that can only be the name of a relation, a function, a type or an operator. */
export interface NameReference {
  readonly kind: ObjectName['kind'] | 'operator';
  /** The schema of the name; undefined if the search_path decides. */
  readonly schema: string | undefined;
  readonly name: string;
  /**
   * Whether every call of the function uses the name: the name is not in a branch, a loop or a string, and no exception
   * handler catches the error.
   */
  readonly certain: boolean;
  /** The operands of an operator, if the name is an operator. */
  readonly operands?: OperandPair;
}

/** Returns the names in a function body. Names that may be a column, a variable or an alias are left out. */
export function findReferences(text: string, language: 'sql' | 'plpgsql'): readonly NameReference[] {
  const tokens = tokenizeBody(text);
  const isCaught = tokens.some((token, at) => isSqlKeyword(token, 'exception') && isSqlKeyword(tokens[at + 1], 'when'));
  const flow = language === 'sql' ? createSqlFlow() : createPlpgsqlFlow();
  const context = createContextTracker();
  const queries = queriesIn(tokens);
  const references: NameReference[] = [];
  /**
   * Index of the token with the variable name in the current declaration; the type of the variable follows this token.
   */
  let variable = -1;
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!;
    if (flow.isStart()) {
      context.restart();
      if (flow.isDeclaring()) variable = at;
    }
    flow.take(token, context.isOuter());
    if (token.kind === 'string' && flow.isDynamic()) {
      const isRun =
        isSqlKeyword(tokens[at - 1], 'execute') && endsExecute(tokens[at + 1]) && flow.isReached() && !isCaught;
      references.push(
        ...findReferences(token.text, 'sql').map((reference) => ({
          ...reference,
          certain: reference.certain && isRun,
        })),
      );
    }
    const certain = flow.isReached() && !flow.isDynamic() && !isCaught;
    const inString = toReference(readObjectName(tokens, at));
    if (inString !== undefined) references.push({ ...inString, certain });
    const operands = isPercent(tokens, at) ? undefined : readOperands(tokens, at);
    if (operands !== undefined) {
      references.push({ kind: 'operator', schema: undefined, name: token.text, certain, operands });
    }
    const implied = readImpliedOperator(tokens, at);
    if (implied !== undefined) references.push({ kind: 'operator', schema: undefined, certain, ...implied });
    const names = qualifiedNameAt(tokens, at);
    if (names.length === 0) {
      context.pass(tokens, at);
      at += 1;
      continue;
    }
    const end = at + names.length * 2 - 1;
    const isType = flow.isDeclaring() && at === variable + (isSqlKeyword(tokens[variable + 1], 'constant') ? 2 : 1);
    const found = isType || isPercent(tokens, end) ? typeOf(tokens, end, names) : context.read(tokens, at, end, names);
    const reference = toReference(found);
    if (reference !== undefined) {
      const isQuery =
        reference.schema === undefined &&
        reference.kind !== 'type' &&
        at >= (queries.get(reference.name) ?? tokens.length);
      // The name of a type in a declaration is always resolved, because PL/pgSQL resolves declarations before any
      // statement runs.
      if (!isQuery) references.push({ ...reference, certain: certain || flow.isDeclaring() });
    }
    if (names.length === 1) context.pass(tokens, at);
    at = end;
  }
  return references;
}

/** Whether the string is the whole argument of EXECUTE, without an operator after it. */
function endsExecute(next: SqlToken | undefined): boolean {
  return next === undefined || isSqlSymbol(next, ';') || isSqlKeyword(next, 'into') || isSqlKeyword(next, 'using');
}

/**
 * A name with more than two parts begins with the name of a database. It is left out, because no dump could contain a
 * function that uses such a name.
 */
function toReference(found: ObjectName | undefined): Pick<NameReference, 'kind' | 'schema' | 'name'> | undefined {
  const [name, schema, ...more] = (found?.names ?? []).toReversed();
  return found === undefined || name === undefined || more.length > 0 ? undefined : { kind: found.kind, schema, name };
}

/**
 * In PL/pgSQL, `t%ROWTYPE` and `t.a%TYPE` name a relation. In the declaration `c CURSOR` the word CURSOR is not a type.
 */
function typeOf(tokens: readonly SqlToken[], end: number, names: readonly string[]): ObjectName | undefined {
  if (!isPercent(tokens, end)) return { kind: 'type', names };
  const isRow = isSqlKeyword(tokens[end + 1], 'rowtype');
  const relation = isRow ? names : names.slice(0, -1);
  return relation.length === 0 ? undefined : { kind: 'relation', names: relation };
}

function isPercent(tokens: readonly SqlToken[], end: number): boolean {
  const next = tokens[end + 1];
  return isSqlSymbol(tokens[end], '%') && (isSqlKeyword(next, 'type') || isSqlKeyword(next, 'rowtype'));
}

/**
 * Names that WITH queries define: `q AS (`, `q AS MATERIALIZED (`, `q (a, b) AS (`; and those of temporary tables that the
 * body creates, which count before the search_path. Each with the token from which it has that meaning: without RECURSIVE
 * a query does not see its own name.
 */
function queriesIn(tokens: readonly SqlToken[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  const add = (name: SqlToken | undefined, from: number) => {
    if (name?.kind === 'word') names.set(name.text, Math.min(from, names.get(name.text) ?? from));
  };
  const ends = closingParentheses(tokens);
  const isRecursive = tokens.some(
    (token, at) => isSqlKeyword(token, 'recursive') && isSqlKeyword(tokens[at - 1], 'with'),
  );
  for (const [at, token] of tokens.entries()) {
    if (/^temp(?:orary)?$/.test(token.text) && isSqlKeyword(tokens[at + 1], 'table'))
      add(tokens[at + (isSqlKeyword(tokens[at + 2], 'if') ? 5 : 2)], 0);
    if (!isSqlKeyword(token, 'as')) continue;
    const far = [1, 2, 3].find(
      (one) =>
        isSqlSymbol(tokens[at + one], '(') && tokens.slice(at + 1, at + one).every((word) => cteWords.has(word.text)),
    );
    if (far === undefined) continue;
    let name = at - 1;
    if (isSqlSymbol(tokens[name], ')')) while (name > 0 && !isSqlSymbol(tokens[name + 1], '(')) name -= 1;
    add(tokens[name], isRecursive ? 0 : (ends.get(at + far) ?? 0));
  }
  return names;
}

const cteWords: ReadonlySet<string> = new Set(['not', 'materialized']);
