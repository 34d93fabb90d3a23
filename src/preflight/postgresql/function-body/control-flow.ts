import type { SqlToken } from './tokenize.ts';

/** Tracks the control flow of a function body while its tokens are read in order. */
export interface SqlFunctionControlFlowTracker {
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
export function createSqlFunctionBodyControlFlow(): SqlFunctionControlFlowTracker {
  return { take() {}, isReached: () => true, isDynamic: () => false, isStart: () => false, isDeclaring: () => false };
}

/** Control flow of a PL/pgSQL body, which begins with a block or with declarations. */
export function createPlpgsqlFunctionBodyControlFlow(): SqlFunctionControlFlowTracker {
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
