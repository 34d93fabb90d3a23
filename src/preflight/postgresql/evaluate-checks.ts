import { type CheckOutcome, type Finding, type Fix, skip, unknown } from '../finding.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { DatabaseCheck, PostgresqlCheck, ServerCheck } from './check.ts';
import type { PostgresqlQueryResult } from './query.ts';
import type { AnyPostgresqlQuery, PostgresqlQueryResults } from './run-queries.ts';
import type { PostgresqlSourceFacts } from './source-facts.ts';

/** What a server check finds, or why it cannot. */
export function evaluateServerCheck(
  check: ServerCheck,
  answers: PostgresqlQueryResults,
  ground: PostgresqlSourceFacts,
  wish: PreflightOptions,
): Finding {
  const outcome = (): CheckOutcome => {
    if (check.needs === 'entry' && ground.connection.kind !== 'entered') return skip(notLoggedInReason(ground));
    const read = valuesOf(check, answers, ground.dbname);
    return 'outcome' in read ? read.outcome : check.evaluate(read.values, ground, wish);
  };
  return { ...checkLabel(check), ...outcome() };
}

/** What a database check finds in one database, or why it cannot. */
export function evaluateDatabaseCheck(
  check: DatabaseCheck,
  answers: PostgresqlQueryResults,
  database: string,
  ground: PostgresqlSourceFacts,
  wish: PreflightOptions,
): Finding {
  const outcome = (): CheckOutcome => {
    const asksInside = Object.values(check.queries).some(({ scope }) => scope === 'database');
    const closed = asksInside ? inaccessibleReason(ground, database) : undefined;
    if (closed !== undefined) return skip(closed);
    const read = valuesOf(check, answers, database);
    return 'outcome' in read ? read.outcome : check.evaluate(read.values, database, ground, wish);
  };
  return { ...checkLabel(check), database, ...outcome() };
}

function checkLabel({
  id,
  title,
  headline,
  scope,
  spec,
}: PostgresqlCheck): Pick<Finding, 'id' | 'title' | 'headline' | 'scope' | 'spec'> {
  return { id, title, headline, scope, ...(spec === undefined ? {} : { spec }) };
}

function notLoggedInReason({ connection: entry }: PostgresqlSourceFacts): string {
  return entry.kind === 'entered' ? '' : `the server could not be entered: ${entry.message}`;
}

/** Why nothing was asked inside the database; a connection lost later on has answers of its own to tell it. */
function inaccessibleReason({ access: reach }: PostgresqlSourceFacts, database: string): string | undefined {
  const found = reach.get(database);
  if (found === undefined) return 'the time was over before this database was asked';
  if (found.kind === 'closed') return 'the database takes no connection of this role (db-noconnect)';
  if (found.kind === 'refused') return `the database could not be entered: ${found.message}`;
  return found.kind === 'lost' ? `the database did not answer: ${found.message}` : undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: the values of the questions of any check; its judge has their types.
type ReadValues = { readonly values: any } | { readonly outcome: CheckOutcome };

/** @param asked the database the questions were put in: rights on a view of the catalogue are per database */
function valuesOf({ queries: asks }: PostgresqlCheck, answers: PostgresqlQueryResults, asked: string): ReadValues {
  const entries = Object.entries<AnyPostgresqlQuery>(asks).map(([name, ask]) => ({
    name,
    ask,
    answer: answers.get(ask),
  }));
  const skipped = entries.find(({ answer }) => answer === undefined || answer.kind === 'skipped');
  if (skipped !== undefined) return { outcome: skip(reasonOf(skipped.answer)) };
  const failed = entries.filter(({ answer }) => answer?.kind !== 'known');
  if (failed.length === 0) {
    return { values: Object.fromEntries(entries.map(({ name, answer }) => [name, valueIn(answer)])) };
  }
  const reasons = new Map<string, string[]>();
  for (const { ask, answer } of failed) {
    const why = reasonOf(answer);
    reasons.set(why, [...(reasons.get(why) ?? []), ask.id]);
  }
  const reason = [...reasons].map(([why, ids]) => `${ids.join(', ')}: ${why}`).join('; ');
  const grants = failed.flatMap(({ answer }) => (answer?.kind === 'denied' ? [answer.grant] : []));
  return { outcome: unknown(reason, grants.length === 0 ? undefined : grantFix(grants, asked)) };
}

function valueIn(answer: PostgresqlQueryResult<unknown> | undefined): unknown {
  return answer?.kind === 'known' ? answer.value : undefined;
}

function reasonOf(answer: PostgresqlQueryResult<unknown> | undefined): string {
  return answer === undefined || answer.kind === 'known' ? 'it was not asked' : answer.reason;
}

function grantFix(grants: readonly string[], database: string): Fix {
  const sql = [...new Set(grants.flatMap((grant) => grant.split(/; (?=GRANT )/)))];
  return {
    sql,
    undo: sql.map((grant) => grant.replace(/^GRANT /, 'REVOKE ').replace(/ TO ("(?:[^"]|"")*"|\S+)$/, ' FROM $1')),
    database,
    text: 'Let the role of the migration read it, and run this again.',
  };
}
