import type { SqlToken } from './tokenize.ts';

/** Where a text is while it is read from the front. */
export interface ControlFlow {
  /** Hears every token in turn. `isOuter`: it stands in no parentheses. */
  take(token: SqlToken, isOuter: boolean): void;
  /** What stands here runs whenever the function does, as far as nothing returned before. */
  isReached(): boolean;
  /** Strings are run as statements here. */
  isDynamic(): boolean;
  /** The next word is that of a declared variable or a statement. */
  isStart(): boolean;
  isDeclaring(): boolean;
}

/** The statements of SQL come one after the other. */
export function createSqlControlFlow(): ControlFlow {
  return { take() {}, isReached: () => true, isDynamic: () => false, isStart: () => false, isDeclaring: () => false };
}

/** Of PL/pgSQL. Its first statement need not begin a block: declarations may. */
export function createPlpgsqlControlFlow(): ControlFlow {
  /** `armed`: past its condition, so that what follows may not run. */
  const frames: { word: string; armed: boolean }[] = [];
  let isStart = true;
  let isDeclaring = false;
  let isDynamic = false;
  /** CASE within an expression has words of its own. */
  let cases = 0;
  let isClosed = false;
  let isLabel = false;
  /** Within a RETURN, and past one that nothing leads around. */
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
        // ELSE is the usual way, as what follows `IF … THEN RETURN … END IF` is.
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
