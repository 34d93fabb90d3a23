import type { SqlToken } from './tokenize.ts';

/** Tracks the control flow of a function body while its tokens are read in order. */
export interface ControlFlow {
  /** Receives every token in order. `isOuter`: the token is not inside parentheses. */
  take(token: SqlToken, isOuter: boolean): void;
  /** The current token is executed in every call of the function, unless an earlier statement returned. */
  isReached(): boolean;
  /** The current statement is EXECUTE, which runs strings. */
  isDynamic(): boolean;
  /** The next token begins a declaration or a statement. */
  isStart(): boolean;
  isDeclaring(): boolean;
}

/** SQL has no branches. */
export function createSqlControlFlow(): ControlFlow {
  return { take() {}, isReached: () => true, isDynamic: () => false, isStart: () => false, isDeclaring: () => false };
}

/** For PL/pgSQL, which begins with a block or with declarations. */
export function createPlpgsqlControlFlow(): ControlFlow {
  /** `armed`: after its condition, so that the statements may not run. */
  const frames: { word: string; armed: boolean }[] = [];
  let isStart = true;
  let isDeclaring = false;
  let isDynamic = false;
  /** Depth of CASE expressions, which have THEN, ELSE and END as well. */
  let cases = 0;
  let isClosed = false;
  let isLabel = false;
  /** Inside a RETURN statement, and after one that no branch skips. */
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
        // ELSE of IF counts as always executed, like the statements after `IF … THEN RETURN … END IF`.
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
