import { branchedCourse, straightCourse } from './course.ts';
import { type Operands, operandsAt } from './operands.ts';
import { createPlace, type Named } from './place.ts';
import { stringNameAt } from './string-names.ts';
import { chainAt, isPlain, isSymbol, type Token, tokensOf } from './tokens.ts';

/** A name in the text of a function, where nothing but a relation, a function, a type or an operator can stand. */
export interface Mention {
  readonly kind: Named['kind'] | 'operator';
  /** Undefined: whatever the search_path finds. */
  readonly schema: string | undefined;
  readonly name: string;
  /** It stands in no branch, no loop and no string, and no handler hides that it was not found. */
  readonly certain: boolean;
  /** Of an operator. */
  readonly operands?: Operands;
}

/** What cannot be told from a column, a variable or an alias is left out. */
export function mentionsIn(text: string, language: 'sql' | 'plpgsql'): readonly Mention[] {
  const tokens = tokensOf(text);
  const isCaught = tokens.some((token, at) => isPlain(token, 'exception') && isPlain(tokens[at + 1], 'when'));
  const course = language === 'sql' ? straightCourse() : branchedCourse();
  const place = createPlace();
  const queries = queriesIn(tokens);
  const mentions: Mention[] = [];
  /** The word before the type of a variable. */
  let variable = -1;
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!;
    if (course.isStart()) {
      place.restart();
      if (course.isDeclaring()) variable = at;
    }
    course.take(token, place.isOuter());
    if (token.kind === 'string' && course.isDynamic()) {
      const isRun =
        isPlain(tokens[at - 1], 'execute') && endsExecute(tokens[at + 1]) && course.isReached() && !isCaught;
      mentions.push(
        ...mentionsIn(token.text, 'sql').map((mention) => ({ ...mention, certain: mention.certain && isRun })),
      );
    }
    const certain = course.isReached() && !course.isDynamic() && !isCaught;
    const inString = named(stringNameAt(tokens, at));
    if (inString !== undefined) mentions.push({ ...inString, certain });
    const operands = isPercent(tokens, at) ? undefined : operandsAt(tokens, at);
    if (operands !== undefined) {
      mentions.push({ kind: 'operator', schema: undefined, name: token.text, certain, operands });
    }
    const names = chainAt(tokens, at);
    if (names.length === 0) {
      place.pass(tokens, at);
      at += 1;
      continue;
    }
    const end = at + names.length * 2 - 1;
    const isType = course.isDeclaring() && at === variable + (isPlain(tokens[variable + 1], 'constant') ? 2 : 1);
    const found = isType || isPercent(tokens, end) ? typeOf(tokens, end, names) : place.read(tokens, at, end, names);
    const mention = named(found);
    if (mention !== undefined) {
      const isQuery = mention.schema === undefined && mention.kind !== 'type' && queries.has(mention.name);
      // What is declared is looked up before anything runs, so that nothing leads around it.
      if (!isQuery) mentions.push({ ...mention, certain: certain || course.isDeclaring() });
    }
    if (names.length === 1) place.pass(tokens, at);
    at = end;
  }
  return mentions;
}

/** What stands before it is the whole statement, and not a part that others follow. */
function endsExecute(next: Token | undefined): boolean {
  return next === undefined || isSymbol(next, ';') || isPlain(next, 'into') || isPlain(next, 'using');
}

/** A database before the schema is no name that a dump could keep. */
function named(found: Named | undefined): Pick<Mention, 'kind' | 'schema' | 'name'> | undefined {
  const [name, schema, ...more] = (found?.names ?? []).toReversed();
  return found === undefined || name === undefined || more.length > 0 ? undefined : { kind: found.kind, schema, name };
}

/** `t%ROWTYPE` and `t.a%TYPE` are of a relation; the first word of a declaration like `c CURSOR` is no name. */
function typeOf(tokens: readonly Token[], end: number, names: readonly string[]): Named | undefined {
  if (!isPercent(tokens, end)) return { kind: 'type', names };
  const isRow = isPlain(tokens[end + 1], 'rowtype');
  const relation = isRow ? names : names.slice(0, -1);
  return relation.length === 0 ? undefined : { kind: 'relation', names: relation };
}

function isPercent(tokens: readonly Token[], end: number): boolean {
  const next = tokens[end + 1];
  return isSymbol(tokens[end], '%') && (isPlain(next, 'type') || isPlain(next, 'rowtype'));
}

/** What WITH names: `q AS (`, `q AS MATERIALIZED (`, `q (a, b) AS (`. */
function queriesIn(tokens: readonly Token[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    if (!isPlain(token, 'as')) continue;
    const opens = [1, 2, 3].some(
      (far) =>
        isSymbol(tokens[at + far], '(') && tokens.slice(at + 1, at + far).every((one) => queryWords.has(one.text)),
    );
    if (!opens) continue;
    let name = at - 1;
    if (isSymbol(tokens[name], ')')) while (name > 0 && !isSymbol(tokens[name + 1], '(')) name -= 1;
    const named = tokens[name];
    if (named?.kind === 'word') names.add(named.text);
  }
  return names;
}

const queryWords: ReadonlySet<string> = new Set(['not', 'materialized']);
