import { readObjectNameInStringToken } from './object-name-in-string.ts';
import { type OperandPair, readSqlOperatorOperands } from './operands.ts';
import { createSqlNameContextTracker, type SqlObjectNameWithKind } from './sql-name-context-tracker.ts';
import {
  isGivenSqlKeyword,
  isGivenSqlSymbol,
  qualifiedNameAt,
  type SqlToken,
  tokenizeSqlFunctionBody,
} from './tokenize.ts';

/** Tracks the control flow of a function body while its tokens are read in order. */
interface SqlFunctionControlFlowTracker {
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
function createSqlFunctionBodyControlFlow(): SqlFunctionControlFlowTracker {
  return { take() {}, isReached: () => true, isDynamic: () => false, isStart: () => false, isDeclaring: () => false };
}

/** Control flow of a PL/pgSQL body, which begins with a block or with declarations. */
function createPlpgsqlFunctionBodyControlFlow(): SqlFunctionControlFlowTracker {
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
export interface FunctionBodyNameReference {
  readonly kind: SqlObjectNameWithKind['kind'] | 'operator';
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
export function findFunctionBodyNameReferences(
  text: string,
  language: 'sql' | 'plpgsql',
): readonly FunctionBodyNameReference[] {
  const tokens = tokenizeSqlFunctionBody(text);
  const isCaught = tokens.some(
    (token, at) => isGivenSqlKeyword(token, 'exception') && isGivenSqlKeyword(tokens[at + 1], 'when'),
  );
  const flow = language === 'sql' ? createSqlFunctionBodyControlFlow() : createPlpgsqlFunctionBodyControlFlow();
  const context = createSqlNameContextTracker();
  const queries = queriesIn(tokens);
  const references: FunctionBodyNameReference[] = [];
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
        isGivenSqlKeyword(tokens[at - 1], 'execute') && endsExecute(tokens[at + 1]) && flow.isReached() && !isCaught;
      references.push(
        ...findFunctionBodyNameReferences(token.text, 'sql').map((reference) => ({
          ...reference,
          certain: reference.certain && isRun,
        })),
      );
    }
    const certain = flow.isReached() && !flow.isDynamic() && !isCaught;
    const inString = toReference(readObjectNameInStringToken(tokens, at));
    if (inString !== undefined) references.push({ ...inString, certain });
    const operands = isPercent(tokens, at) ? undefined : readSqlOperatorOperands(tokens, at);
    if (operands !== undefined) {
      references.push({ kind: 'operator', schema: undefined, name: token.text, certain, operands });
    }
    const names = qualifiedNameAt(tokens, at);
    if (names.length === 0) {
      context.pass(tokens, at);
      at += 1;
      continue;
    }
    const end = at + names.length * 2 - 1;
    const isType =
      flow.isDeclaring() && at === variable + (isGivenSqlKeyword(tokens[variable + 1], 'constant') ? 2 : 1);
    const found = isType || isPercent(tokens, end) ? typeOf(tokens, end, names) : context.read(tokens, at, end, names);
    const reference = toReference(found);
    if (reference !== undefined) {
      const isQuery = reference.schema === undefined && reference.kind !== 'type' && queries.has(reference.name);
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
  return (
    next === undefined ||
    isGivenSqlSymbol(next, ';') ||
    isGivenSqlKeyword(next, 'into') ||
    isGivenSqlKeyword(next, 'using')
  );
}

/**
 * A name with more than two parts begins with the name of a database. It is left out, because no dump could contain a
 * function that uses such a name.
 */
function toReference(
  found: SqlObjectNameWithKind | undefined,
): Pick<FunctionBodyNameReference, 'kind' | 'schema' | 'name'> | undefined {
  const [name, schema, ...more] = (found?.names ?? []).toReversed();
  return found === undefined || name === undefined || more.length > 0 ? undefined : { kind: found.kind, schema, name };
}

/**
 * In PL/pgSQL, `t%ROWTYPE` and `t.a%TYPE` name a relation. In the declaration `c CURSOR` the word CURSOR is not a type.
 */
function typeOf(tokens: readonly SqlToken[], end: number, names: readonly string[]): SqlObjectNameWithKind | undefined {
  if (!isPercent(tokens, end)) return { kind: 'type', names };
  const isRow = isGivenSqlKeyword(tokens[end + 1], 'rowtype');
  const relation = isRow ? names : names.slice(0, -1);
  return relation.length === 0 ? undefined : { kind: 'relation', names: relation };
}

function isPercent(tokens: readonly SqlToken[], end: number): boolean {
  const next = tokens[end + 1];
  return isGivenSqlSymbol(tokens[end], '%') && (isGivenSqlKeyword(next, 'type') || isGivenSqlKeyword(next, 'rowtype'));
}

/** Names that WITH queries define: `q AS (`, `q AS MATERIALIZED (`, `q (a, b) AS (`. */
function queriesIn(tokens: readonly SqlToken[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    if (!isGivenSqlKeyword(token, 'as')) continue;
    const opens = [1, 2, 3].some(
      (far) =>
        isGivenSqlSymbol(tokens[at + far], '(') &&
        tokens.slice(at + 1, at + far).every((one) => queryWords.has(one.text)),
    );
    if (!opens) continue;
    let name = at - 1;
    if (isGivenSqlSymbol(tokens[name], ')')) while (name > 0 && !isGivenSqlSymbol(tokens[name + 1], '(')) name -= 1;
    const named = tokens[name];
    if (named?.kind === 'word') names.add(named.text);
  }
  return names;
}

const queryWords: ReadonlySet<string> = new Set(['not', 'materialized']);
