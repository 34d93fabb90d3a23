import { countOf } from '../../../../base/text.ts';
import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { dropConstraintsFix, quoteName, suggestConstraintQueries } from '../owner-queries.ts';
import { clockConstraintsQuery, type NamedConstraint } from '../queries/constraints.ts';

export const timeChecksCheck = declareDatabaseCheck({
  id: 'time-checks',
  title: 'no CHECK constraint stops being true as time passes',
  headline: 'A CHECK constraint may stop being true as time passes',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { clockChecks: clockConstraintsQuery },
  evaluate({ clockChecks }, database) {
    const demands = new Map(clockChecks.map((one) => [one, futureDemand(one)]));
    const found = clockChecks.filter((one) => demands.get(one) !== 'none');
    if (found.length === 0)
      return passOutcome(
        clockChecks.length === 0
          ? 'none'
          : 'constraints use the current time, but none stops being true as time passes',
      );
    const certain = found.filter(
      (one) => one.rows === 'violate' || (one.rows !== 'fit' && demands.get(one) === 'certain'),
    );
    const named = certain.length > 0 ? certain : found;
    const observed = countOf(named.length, 'constraint');
    const more = {
      required: 'no such constraint in tables with rows',
      detail: `A CHECK constraint is evaluated when a row is written, and again on the target. A row that does not satisfy it any more, because time has passed, makes the copy fail on every attempt: "new row for relation … violates check constraint ${quoteName(named[0]!.name)}".${unlistedNote(named)}`,
      objects: limitObjects(named).map(({ name, owner, definition }) => `${name} on ${owner} ${definition}`),
      fix: dropConstraintsFix(
        clockConstraintsQuery,
        named,
        database,
        'Drop the CHECK constraints until the cut-over, or replace them with a trigger, which does not fire during the copy. If every row still satisfies them in two weeks, use --accept time-checks.',
      ),
    };
    if (certain.length > 0) return failOutcome(['continuous', 'dump'], observed, more);
    return {
      ...unknownOutcome(`${observed}; it is not known whether every row satisfies the constraints`),
      ...more,
      premise: 'every row satisfies the CHECK constraints for the next two weeks',
      detail: `${more.detail}${suggestConstraintQueries(named)}`,
    };
  },
});

/**
 * Whether a constraint, as pg_get_constraintdef writes it, requires a value greater than the current time. `possible`:
 * only in some cases, such as one condition of an OR, or the comparison is not a condition of its own.
 */
export function futureDemand({ definition }: Pick<NamedConstraint, 'definition'>): 'none' | 'possible' | 'certain' {
  const text = definition.replace(/'(?:[^']|'')*'/g, "''");
  if (text.length > readableLength) return mentionsFuture(text) ? 'possible' : 'none';
  const [, condition = text] = /^CHECK (\(.*\))(?: NO INHERIT| NOT VALID| NOT ENFORCED)*$/s.exec(text) ?? [];
  return demandOf(condition, false);
}

/** Longer texts are not split into conditions, because each is read once for each level of parentheses. */
const readableLength = 10_000;

function demandOf(text: string, isNegated: boolean): 'none' | 'possible' | 'certain' {
  const condition = withoutParentheses(text);
  if (!new RegExp(clock).test(condition)) return 'none';
  const bare = topLevel(condition);
  if (bare.startsWith('NOT ')) return demandOf(condition.slice(4), !isNegated);
  const word = /\b(CASE|IS)\b/.test(bare) ? undefined : / (AND|OR) /.exec(bare)?.[1];
  if (word === undefined) return demandOfComparison(condition, bare, isNegated);
  const demands = partsBetween(condition, bare, ` ${word} `).map((part) => demandOf(part, isNegated));
  if (demands.every((one) => one === 'none')) return 'none';
  // A row that satisfies another condition of an OR need not have a future time.
  return (word === 'AND') !== isNegated && demands.includes('certain') ? 'certain' : 'possible';
}

function demandOfComparison(condition: string, bare: string, isNegated: boolean): 'none' | 'possible' | 'certain' {
  const operators = [...bare.matchAll(/[-+*/<>=~!@#%^&|`?]*[<>=][-+*/<>=~!@#%^&|`?]*/g)];
  const [{ 0: operator, index } = { 0: '', index: 0 }] = operators;
  if (operators.length !== 1 || /\bIS\b|\bCASE\b/.test(bare)) {
    const isTested =
      /\bNOT\b(?! NULL)|\bIS (?:TRUE|FALSE|UNKNOWN|DISTINCT)\b/.test(condition) && /[<>]/.test(condition);
    return isNegated || isTested || mentionsFuture(condition) ? 'possible' : 'none';
  }
  if (!/^[<>]=?$/.test(operator)) return mentionsFuture(condition) ? 'possible' : 'none';
  const [left, right] = [condition.slice(0, index), condition.slice(index + operator.length)];
  const isLess = operator.startsWith('<') !== isNegated;
  const [late, early] = isLess ? [right, left] : [left, right];
  // A time that is subtracted counts on the other side: `(a - now()) > …`.
  const subtracted = new RegExp(`- \\(*${clock}`);
  if (subtracted.test(late)) return 'possible';
  if (!new RegExp(clock).test(early) || subtracted.test(early)) return 'none';
  // Every row may be far from a time that is counted from now: `CURRENT_DATE - '150 years'::interval`.
  return new RegExp(`^[ (]*${clock}(?:\\)|::[\\w ]+)*$`).test(early.trimEnd()) ? 'certain' : 'possible';
}

function withoutParentheses(text: string): string {
  let inner = text.trim();
  while (inner.startsWith('(') && /^ *$/.test(topLevel(inner))) inner = inner.slice(1, -1).trim();
  return inner;
}

/** The text with a space in place of each parenthesis and of each character in one. */
function topLevel(text: string): string {
  let depth = 0;
  let outside = '';
  for (const character of text) {
    if (character === '(') depth += 1;
    outside += depth === 0 ? character : ' '.repeat(character.length);
    if (character === ')') depth -= 1;
  }
  return outside;
}

/** The parts of a text between the separators that are outside of parentheses. */
function partsBetween(text: string, bare: string, separator: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = bare.indexOf(separator); at !== -1; at = bare.indexOf(separator, from)) {
    parts.push(text.slice(from, at));
    from = at + separator.length;
  }
  return [...parts, text.slice(from)];
}

/** Whether a comparison anywhere in the text requires a value greater than the current time. */
function mentionsFuture(definition: string): boolean {
  // The result of a comparison may be an operand of another comparison: `(a < now()) = b`, `(a < now())::integer < 2`.
  const others = definition
    .replaceAll('<>', '=')
    .replace(new RegExp(`<=?(?![>@])(?:(?!\\b(?:AND|OR)\\b)[^<>=])*${clock}`, 'g'), '');
  if (new RegExp(`>=? *\\(*${clock}`).test(others)) return true;
  // Each operand is read once, not from every call in it to its end.
  return [...others.matchAll(/([^<>=]*)(?:(<=?(?![>@]))|[<>=]|$)/g)].some(
    ([, operand = '', less]) =>
      less !== undefined && new RegExp(clock).test(operand.split(/\b(?:AND|OR)\b/).at(-1) ?? ''),
  );
}

const clock =
  '(?:(?:now|(?:transaction|statement|clock)_timestamp)\\(\\)|\\b(?:CURRENT_(?:DATE|TIME|TIMESTAMP)|LOCALTIME(?:STAMP)?)\\b)';
