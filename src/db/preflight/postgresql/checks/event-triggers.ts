import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import {
  type CheckOutcome,
  type FindingFix,
  failOutcome,
  passOutcome,
  resultEffect,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { isSqlKeyword, isSqlSymbol, type SqlToken, tokenizeBody } from '../function-body/tokenize.ts';
import { type EventTrigger, eventTriggersQuery, unusualRelationsQuery } from '../queries/relations.ts';

/** Whether a PL/pgSQL function raises an exception in every call. */
function alwaysRaises(body: string): boolean {
  const tokens = tokenizeBody(body);
  return (
    tokens.some((token, at) => isSqlKeyword(token, 'raise') && isError(tokens[at + 1])) &&
    !tokens.some((token) => token.kind === 'word' && !token.quoted && branchingWords.has(token.text))
  );
}

/**
 * Whether a PL/pgSQL function may raise an exception or change something when it is called for CREATE PUBLICATION or
 * CREATE SUBSCRIPTION: it does more than ask for the command and report it, and not only for another command.
 */
function mayAct(tokens: readonly SqlToken[]): boolean {
  if (isForOtherCommand(tokens)) return false;
  return tokens.some((token, at) => {
    if (token.kind !== 'word') return false;
    if (isSqlKeyword(token, 'raise')) return isError(tokens[at + 1]);
    if (!token.quoted && actingWords.has(token.text)) return true;
    const isCalled = isSqlSymbol(tokens[at + 1], '(');
    return isCalled && !token.text.startsWith('pg_event_trigger_') && !harmlessCalls.has(token.text);
  });
}

/** Whether the whole function is `IF tg_tag = '…' THEN … END IF`, and the text is not that of the migration. */
function isForOtherCommand(tokens: readonly SqlToken[]): boolean {
  const keywords = (text: string) => tokens.flatMap((token, at) => (isSqlKeyword(token, text) ? [at] : []));
  const [first = -1, second = -1, ...more] = keywords('if');
  const isWhole =
    isSqlKeyword(tokens[first - 1], 'begin') &&
    isSqlKeyword(tokens[second - 1], 'end') &&
    ['end', 'return'].some((word) => isSqlKeyword(tokens[second + 2], word));
  const isPlain = !['or', 'else', 'elsif', 'elseif', 'not'].some((word) => keywords(word).length > 0);
  const compares = isSqlSymbol(tokens[first + 2], '=') || isSqlKeyword(tokens[first + 2], 'in');
  return (
    more.length === 0 &&
    isWhole &&
    isPlain &&
    compares &&
    isSqlKeyword(tokens[first + 1], 'tg_tag') &&
    !tokens.some((token) => token.kind === 'string' && /publication|subscription/i.test(token.text))
  );
}

/** RAISE without a level means EXCEPTION. */
function isError(next: SqlToken | undefined): boolean {
  return !(next?.kind === 'word' && quietLevels.has(next.text));
}

const quietLevels: ReadonlySet<string> = new Set(['debug', 'log', 'info', 'notice', 'warning']);

/**
 * Keywords after which a statement is not executed in every case. An exception handler begins with WHEN, like a branch
 * of CASE.
 */
const branchingWords: ReadonlySet<string> = new Set([
  'if',
  'case',
  'when',
  'for',
  'foreach',
  'while',
  'loop',
  'return',
  'execute',
]);

const actingWords: ReadonlySet<string> = new Set(
  'insert update delete merge truncate copy execute perform call do create alter drop grant revoke'.split(' '),
);

/** Words before a parenthesis that change nothing: syntax, and functions of texts and of the session. */
const harmlessCalls: ReadonlySet<string> = new Set(
  'in if and or not exists when then values select from as any all coalesce nullif format concat lower upper left right length replace position substring array_agg string_agg count now clock_timestamp current_setting row'.split(
    ' ',
  ),
);

export const eventTriggersCheck = declareDatabaseCheck({
  id: 'event-triggers',
  title: 'the database has no event triggers',
  headline: 'The database has event triggers',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { eventTriggers: eventTriggersQuery, relations: unusualRelationsQuery },
  evaluate({ eventTriggers, relations }, database, _facts, { target }) {
    if (eventTriggers.length === 0) return passOutcome('none');
    const rejecting = eventTriggers.filter(({ body }) => body !== undefined && alwaysRaises(body));
    if (rejecting.length > 0) return rejectingDdl(rejecting, database);
    const writing = eventTriggers.filter(({ atLogin }) => atLogin !== undefined && writes(atLogin, relations.unlogged));
    if (writing.length > 0) return loginWriters(writing, database);
    const names = eventTriggers.map(({ name }) => name);
    const acting = eventTriggers.filter(({ body }) => body !== undefined && mayAct(tokenizeBody(body)));
    if (acting.length > 0) return actingOnDdl(acting, database);
    // A restore that stops at the first error does not continue.
    const isOpen = target?.postgresql?.isSuperuser === false;
    const observed = countOf(names.length, 'event trigger');
    return {
      ...(isOpen ? unknownOutcome(observed) : warnOutcome(observed)),
      ...(isOpen
        ? { premise: 'the migration continues without the event triggers', settledBy: '--accept event-triggers' }
        : {}),
      required: 'none',
      detail: `Only a superuser can create event triggers. On a managed target the restore reports "permission denied to create event trigger" and continues without the event triggers.${unlistedNote(names)}`,
      objects: limitObjects(names),
      fix: {
        by: 'the schema owner',
        text: 'Make sure that the application works without the event triggers on the target, or drop the event triggers before the migration.',
      },
    };
  },
});

/**
 * Whether the function of the event trigger writes into a table whose rows are copied, which excludes unlogged tables.
 */
function writes(body: string, unlogged: readonly string[]): boolean {
  const lastPart = (name: string) => name.slice(name.lastIndexOf('.') + 1).replaceAll('"', '');
  const tables = [
    ...body.matchAll(/\b(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?((?:[\w.$]|"[^"]*")+)/gi),
  ];
  return tables.some(([, name = '']) => !unlogged.some((one) => lastPart(one) === lastPart(name)));
}

function loginWriters(found: readonly EventTrigger[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(found.length, 'event trigger')} writing at every login`, {
    headline: 'An event trigger writes data at every login',
    required: 'no login event trigger that writes into a replicated table',
    detail: `After the restore these event triggers write on the target at every login, before the rows of the same table are copied: "duplicate key value violates unique constraint", or rows that do not exist on the source.${unlistedNote(found.map(({ name }) => name))}`,
    objects: limitObjects(found.map(({ name }) => name)),
    fix: disableFix(
      found,
      database,
      'Disable the event triggers until the cut-over; a disabled event trigger is also disabled on the target.',
    ),
  });
}

function disableFix(found: readonly EventTrigger[], database: string, text: string): FindingFix {
  const alter = (how: string) => found.map(({ name }) => `ALTER EVENT TRIGGER ${quoteIdentifier(name)} ${how}`);
  return {
    sql: alter('DISABLE'),
    undo: alter('ENABLE'),
    effects: [
      resultEffect(eventTriggersQuery, (all) =>
        all.map((one) => (found.includes(one) ? { ...one, body: undefined, atLogin: undefined } : one)),
      ),
    ],
    database,
    by: 'a superuser',
    text,
  };
}

function actingOnDdl(found: readonly EventTrigger[], database: string): CheckOutcome {
  return {
    ...unknownOutcome(`${countOf(found.length, 'event trigger')} acting on DDL`),
    headline: 'An event trigger acts on DDL of the migration',
    premise: 'CREATE PUBLICATION and CREATE SUBSCRIPTION pass the event triggers, which write no row on the target',
    required: 'no event trigger that raises an exception or writes at CREATE PUBLICATION or CREATE SUBSCRIPTION',
    detail: `These event triggers fire for CREATE PUBLICATION on the source and, after the restore, for CREATE SUBSCRIPTION on the target. One that raises an exception for the role of the migration ends it. One that writes does so before the rows of its table are copied: "duplicate key value violates unique constraint", and the copy is retried endlessly.${unlistedNote(found)}`,
    objects: limitObjects(found.map(({ name }) => name)),
    fix: disableFix(
      found,
      database,
      'Disable the event triggers until the cut-over; a disabled event trigger is also disabled on the target.',
    ),
  };
}

function rejectingDdl(found: readonly EventTrigger[], database: string): CheckOutcome {
  return failOutcome(['continuous'], `${countOf(found.length, 'event trigger')} rejecting DDL`, {
    headline: 'An event trigger rejects DDL of the migration',
    required: 'no event trigger that raises an exception at CREATE PUBLICATION or CREATE SUBSCRIPTION',
    detail: `These event triggers fire for CREATE PUBLICATION on the source and, after the restore, for CREATE SUBSCRIPTION on the target, and both statements fail.${unlistedNote(found)}`,
    objects: limitObjects(found.map(({ name }) => name)),
    fix: disableFix(
      found,
      database,
      'Disable the event triggers until the cut-over, so that CREATE PUBLICATION and CREATE SUBSCRIPTION succeed.',
    ),
  });
}
