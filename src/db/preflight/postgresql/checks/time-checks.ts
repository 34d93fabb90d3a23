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

type Demand = 'none' | 'possible' | 'certain';

/**
 * Whether a constraint, as pg_get_constraintdef writes it, may stop being true as time passes. Only conditions that are
 * known to stay true demand nothing: a later time is greater. `certain`: a value greater than the current time, or the
 * same, is required of every row.
 */
export function futureDemand({ definition }: Pick<NamedConstraint, 'definition'>): Demand {
  const text = definition
    .replace(/"[^"]*"|'([^']*)'/g, (quoted, constant?: string) => {
      if (constant === undefined) return 'q';
      return lastingFields.has(constant) ? quoted : "''";
    })
    .replace(/\s+/g, ' ');
  if (text.length > readableLength) return hasClock(text) ? 'possible' : 'none';
  const [, condition = text] = /^CHECK (\(.*\))(?: NO INHERIT| NOT VALID| NOT ENFORCED)*$/s.exec(text) ?? [];
  return demandOf(condition, false);
}

/** Longer texts are not split into conditions, because each is read once for each level of parentheses. */
const readableLength = 2_000;

function demandOf(text: string, isNegated: boolean): Demand {
  const condition = withoutParentheses(text);
  if (!hasClock(condition)) return 'none';
  const bare = topLevel(condition);
  if (bare.startsWith('NOT ')) return demandOf(condition.slice(4), !isNegated);
  if (bare.startsWith('CASE')) return demandOfCase(condition, bare, isNegated);
  const [, tested = '', not, test] = /^(.*) IS (NOT )?(TRUE|FALSE|NULL)$/.exec(condition) ?? [];
  if (test !== undefined && topLevel(tested).trim() === '') {
    if (test === 'NULL') return trendOf(tested) === 'unknown' ? 'possible' : 'none';
    return demandOf(tested, isNegated !== ((test === 'FALSE') === (not === undefined)));
  }
  const [, choices = ''] = /^COALESCE\((.*)\)$/.exec(condition) ?? [];
  if (choices !== '' && bare.trim() === 'COALESCE') {
    const demands = partsBetween(choices, topLevel(choices), ', ').map((part) => demandOf(part, isNegated));
    return demands.every((one) => one === 'none') ? 'none' : 'possible';
  }
  const word = / (AND|OR) /.exec(bare)?.[1];
  if (word === undefined) return demandOfComparison(condition, bare, isNegated);
  const demands = partsBetween(condition, bare, ` ${word} `).map((part) => demandOf(part, isNegated));
  if (demands.every((one) => one === 'none')) return 'none';
  // A row that satisfies another condition of an OR need not have a future time.
  return (word === 'AND') !== isNegated && demands.includes('certain') ? 'certain' : 'possible';
}

/** A CASE that chooses by the time is not read. */
function demandOfCase(condition: string, bare: string, isNegated: boolean): Demand {
  const words = [...bare.matchAll(/\b(?:CASE|WHEN|THEN|ELSE|END)\b/g)];
  const parts = words.map(({ 0: word, index }, at) => ({
    word,
    text: condition.slice(index + word.length, words[at + 1]?.index),
  }));
  const isRead = parts.every(
    ({ word, text }, at) =>
      (word === 'CASE') === (at === 0) &&
      (word !== 'END' || text.trim() === '') &&
      (word === 'THEN' || word === 'ELSE' ? demandOf(text, isNegated) === 'none' : !hasClock(text)),
  );
  return isRead ? 'none' : 'possible';
}

function demandOfComparison(condition: string, bare: string, isNegated: boolean): Demand {
  const operators = [...bare.matchAll(/[-+*/<>=~!@#%^&|`?]*[<>=~@#%^&|`?][-+*/<>=~!@#%^&|`?]*/g)];
  const [{ 0: operator, index } = { 0: '', index: 0 }] = operators;
  if (operators.length !== 1 || /\bIS\b/.test(bare)) return 'possible';
  const [left, right] = [condition.slice(0, index), condition.slice(index + operator.length)];
  const isNow = (one: string, other: string) =>
    bareClock.test(one) && trendOf(one) === 'rises' && bareColumn.test(other) && !hasClock(other);
  const [now] = [[left, right] as const, [right, left] as const].find(([one, other]) => isNow(one, other)) ?? [];
  if (operator === (isNegated ? '<>' : '=')) return now === undefined ? 'possible' : 'certain';
  // No row has the very microsecond.
  if (operator === (isNegated ? '=' : '<>')) return now === undefined || /DATE|::/i.test(now) ? 'possible' : 'none';
  if (!/^[<>]=?$/.test(operator)) return 'possible';
  const isLess = operator.startsWith('<') !== isNegated;
  const [late, early] = isLess ? [right, left] : [left, right];
  const [rise, fall] = [trendOf(late), trendOf(early)];
  if ((rise === 'constant' || rise === 'rises') && (fall === 'constant' || fall === 'falls')) return 'none';
  // Every row may be far from a time that is counted from now: `CURRENT_DATE - '150 years'::interval`.
  return isNow(early, late) ? 'certain' : 'possible';
}

/** How a value changes as time passes: `rises` and `falls` include a value that stays the same for a while. */
type Trend = 'constant' | 'rises' | 'falls' | 'unknown';

function trendOf(text: string): Trend {
  const value = withoutParentheses(text);
  if (!hasClock(value)) return 'constant';
  if (lastingClock.test(value)) return 'rises';
  const bare = topLevel(value);
  const cast = bare.lastIndexOf('::');
  const operators = [...bare.matchAll(/ (?:[-+*/<>=~!@#%^&|`?]+|AT TIME ZONE) /g)];
  const [{ 0: operator, index } = { 0: '', index: 0 }] = operators;
  if (operators.length === 1) {
    const [first, second] = [value.slice(0, index), value.slice(index + operator.length)];
    const [left, right] = [trendOf(first), trendOf(second)];
    if (operator === ' AT TIME ZONE ') return right === 'constant' ? left : 'unknown';
    if (operator === ' - ') return joinTrends([left, opposite[right]]);
    if (operator === ' + ') return joinTrends([left, right]);
    if (/^ [*/] $/.test(operator) && positive.test(second)) return left;
    return operator === ' * ' && positive.test(first) ? right : 'unknown';
  }
  if (operators.length === 0 && cast >= 0)
    return lastingType.test(value.slice(cast)) ? trendOf(value.slice(0, cast)) : 'unknown';
  const [, name = '', inner = ''] = /^(\w+)\((.*)\)$/s.exec(value) ?? [];
  if (name === '' || bare.trim() !== name) return 'unknown';
  const [field = '', timed = ''] = partsBetween(inner, topLevel(inner), ' FROM ');
  if (name === 'EXTRACT') return lastingFields.has(field) ? trendOf(timed) : 'unknown';
  const parts = partsBetween(inner, topLevel(inner), ', ');
  const [first = '', second = ''] = parts;
  if (/^(?:GREATEST|LEAST|COALESCE)$/.test(name)) return joinTrends(parts.map(trendOf));
  // With one argument, it counts from CURRENT_DATE.
  if (name === 'age' && parts.length === 1) return joinTrends(['rises', opposite[trendOf(first)]]);
  if (name === 'age') return joinTrends([trendOf(first), opposite[trendOf(second)]]);
  if (/^(?:date|floor|ceil|ceiling|trunc|round)$/.test(name) && parts.length === 1) return trendOf(inner);
  if (name === 'date_part') return lastingFields.has(/^'(\w+)'/.exec(first)?.[1] ?? '') ? trendOf(second) : 'unknown';
  return /^(?:date_trunc|timezone)$/.test(name) && parts.length === 2 && !hasClock(first) ? trendOf(second) : 'unknown';
}

const opposite = { constant: 'constant', rises: 'falls', falls: 'rises', unknown: 'unknown' } as const;

function joinTrends(trends: readonly Trend[]): Trend {
  const [first = 'constant', ...others] = new Set(trends.filter((one) => one !== 'constant'));
  return others.length === 0 ? first : 'unknown';
}

/** Fields of a time or an interval that do not begin again, as a month or an hour does. */
const lastingFields: ReadonlySet<string> = new Set(['year', 'isoyear', 'decade', 'century', 'millennium', 'epoch']);

/** A time of day begins again, and the order of a text is another one. */
const lastingType =
  /^::(?:date|timestamp(?:\(\d\))? with(?:out)? time zone|interval|numeric|smallint|integer|bigint|real|double precision)$/;

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

function hasClock(text: string): boolean {
  return anyClock.test(text);
}

const clock =
  '(?:(?:now|(?:transaction|statement|clock)_timestamp)\\(\\)|\\b(?:CURRENT_(?:DATE|TIME|TIMESTAMP)|LOCALTIME(?:STAMP)?)\\b(?:\\(\\d\\))?)';
const anyClock = new RegExp(`${clock}|(?<![\\w.])age\\(`);
const bareClock = new RegExp(`^[ (]*${clock}(?:\\)|::[\\w ]+| )*$`);
const bareColumn = /^[ (]*[a-z_]\w*(?:\)|::[\w ]+| )*$/i;
const positive = /^\(*\d+(?:\.\d+)?(?:\)|::[\w ]+)*$/;
const lastingClock = new RegExp(`^(?!CURRENT_TIME\\b|LOCALTIME\\b)${clock}$`);
