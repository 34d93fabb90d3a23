import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier } from '../../../../postgresql/quote.ts';
import {
  buildQueryResultFixEffect,
  type FindingFix,
  failOutcome,
  type PreflightCheckOutcome,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';

import { buildUnlistedObjectsNote, declareDatabasePreflightCheck, limitFindingObjects } from '../check.ts';
import { isGivenSqlKeyword, type SqlToken, tokenizeSqlFunctionBody } from '../function-body/tokenize.ts';

import { type EventTrigger, eventTriggersQuery, relationsWithUnusualPropertiesQuery } from '../queries/relations.ts';

/** How often a PL/pgSQL function raises an exception: in every call, in some cases, or never. */
function estimateFunctionExceptionFrequency(body: string): 'always' | 'sometimes' | 'never' {
  const tokens = tokenizeSqlFunctionBody(body);
  const found = tokens.some((token, at) => isGivenSqlKeyword(token, 'raise') && isError(tokens[at + 1]));
  if (!found) return 'never';
  return tokens.some((token) => token.kind === 'word' && !token.quoted && branchingWords.has(token.text))
    ? 'sometimes'
    : 'always';
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

export const eventTriggersCheck = declareDatabasePreflightCheck({
  id: 'event-triggers',
  title: 'the database has no event triggers',
  headline: 'The database has event triggers',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { eventTriggers: eventTriggersQuery, relations: relationsWithUnusualPropertiesQuery },
  evaluate({ eventTriggers, relations }, database, _facts, { target }) {
    if (eventTriggers.length === 0) return passOutcome('none');
    const ofKind = (how: ReturnType<typeof estimateFunctionExceptionFrequency>) =>
      eventTriggers.filter(({ body }) => body !== undefined && estimateFunctionExceptionFrequency(body) === how);
    const rejecting = ofKind('always');
    if (rejecting.length > 0) return rejectingDdl(rejecting, database);
    const writing = eventTriggers.filter(({ atLogin }) => atLogin !== undefined && writes(atLogin, relations.unlogged));
    if (writing.length > 0) return loginWriters(writing, database);
    const names = eventTriggers.map(({ name }) => name);
    const conditional = ofKind('sometimes').map(({ name }) => name);
    const hint =
      conditional.length === 0
        ? ''
        : ` ${limitFindingObjects(conditional).join(', ')} can raise an exception: make sure that CREATE PUBLICATION on the source and CREATE SUBSCRIPTION on the target succeed.`;
    // A restore that stops at the first error does not continue.
    const isOpen = target?.postgresql?.isSuperuser === false;
    const observed = countOf(names.length, 'event trigger');
    return {
      ...(isOpen ? unknownOutcome(observed) : warnOutcome(observed)),
      ...(isOpen
        ? { premise: 'the migration continues without the event triggers', settledBy: '--accept event-triggers' }
        : {}),
      required: 'none',
      detail: `Only a superuser can create event triggers. On a managed target the restore reports "permission denied to create event trigger" and continues without the event triggers.${hint}${buildUnlistedObjectsNote(names)}`,
      objects: limitFindingObjects(names),
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

function loginWriters(found: readonly EventTrigger[], database: string): PreflightCheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(found.length, 'event trigger')} writing at every login`, {
    headline: 'An event trigger writes data at every login',
    required: 'no login event trigger that writes into a replicated table',
    detail: `After the restore these event triggers write on the target at every login, before the rows of the same table are copied: "duplicate key value violates unique constraint", or rows that do not exist on the source.${buildUnlistedObjectsNote(found.map(({ name }) => name))}`,
    objects: limitFindingObjects(found.map(({ name }) => name)),
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
      buildQueryResultFixEffect(eventTriggersQuery, (all) =>
        all.map((one) => (found.includes(one) ? { ...one, body: undefined, atLogin: undefined } : one)),
      ),
    ],
    database,
    by: 'a superuser',
    text,
  };
}

function rejectingDdl(found: readonly EventTrigger[], database: string): PreflightCheckOutcome {
  return failOutcome(['continuous'], `${countOf(found.length, 'event trigger')} rejecting DDL`, {
    headline: 'An event trigger rejects DDL of the migration',
    required: 'no event trigger that raises an exception at CREATE PUBLICATION or CREATE SUBSCRIPTION',
    detail: `These event triggers fire for CREATE PUBLICATION on the source and, after the restore, for CREATE SUBSCRIPTION on the target, and both statements fail.${buildUnlistedObjectsNote(found)}`,
    objects: limitFindingObjects(found.map(({ name }) => name)),
    fix: disableFix(
      found,
      database,
      'Disable the event triggers until the cut-over, so that CREATE PUBLICATION and CREATE SUBSCRIPTION succeed.',
    ),
  });
}
