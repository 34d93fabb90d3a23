import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeBoolean } from '../../../../postgresql/rows.ts';
import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { isInputByPath, tokenizeBody } from '../function-body/tokenize.ts';
import { dropConstraintsFix, suggestConstraintQueries } from '../owner-queries.ts';
import { dependsOnSessionSql, sessionCheckSql } from '../queries/catalog-predicates.ts';
import { constraintColumnsSql, decodeConstraint, type NamedConstraint } from '../queries/constraints.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { constraintRowsSql } from '../queries/row-scan.ts';
import type { PostgresqlQuery } from '../query.ts';

/** A CHECK constraint that depends on the session (its role, its settings, its search_path) or on the server. */
export interface SessionConstraint extends NamedConstraint {
  /**
   * Whether the constraint applies to existing rows. The rows are not checked, because preflight evaluates no
   * expression of a user.
   */
  readonly filled: boolean;
}

export const sessionConstraintsQuery: PostgresqlQuery<readonly SessionConstraint[]> = {
  id: 'session-dependent-constraints',
  scope: 'database',
  when: featureCondition('checks'),
  sql: (version) => `
    SELECT
      ${constraintColumnsSql},
      ${constraintRowsSql(version)} AS filled,
      NOT ${dependsOnSessionSql('k.conbin')} AS is_input
    FROM pg_constraint k
    WHERE k.oid >= '${firstNormalOid}'
      AND ${sessionCheckSql}${version < 180_000 ? '' : ' AND k.conenforced'}
    ORDER BY 2, 1
  `,
  decode: (rows) =>
    rows
      .map((row) => ({
        ...decodeConstraint(row),
        filled: decodeBoolean(row, 'filled'),
        isInput: decodeBoolean(row, 'is_input'),
      }))
      .filter(({ isInput, definition }) => !isInput || tokenizeBody(definition).some(isInputByPath))
      .map(({ isInput, ...constraint }) => constraint),
  absent: [],
};

export const sessionChecksCheck = declareDatabaseCheck({
  id: 'session-checks',
  title: 'no CHECK constraint depends on the session, the role or the server',
  headline: 'A CHECK constraint depends on the session, the role or the server',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { sessionChecks: sessionConstraintsQuery },
  evaluate({ sessionChecks }, database) {
    const unseen = sessionChecks.filter(({ filled }) => filled);
    const broken = unseen.filter(({ definition }) => customSetting.test(definition));
    const named = broken.length > 0 ? broken : unseen;
    if (named.length === 0) return passOutcome(sessionChecks.length === 0 ? 'none' : 'none in tables with rows');
    const observed = countOf(named.length, 'constraint');
    const more = {
      required: 'no such constraint in tables with rows',
      detail: `A CHECK constraint is evaluated for every copied or applied row, on another server of a newer version, by another role, with an empty search_path and without the settings of the application: "new row for relation … violates check constraint", "unrecognized configuration parameter", "relation … does not exist". The copy fails on the target on every attempt.${unlistedNote(named)}`,
      objects: limitObjects(named).map(({ name, owner, definition }) => `${name} on ${owner} ${definition}`),
      fix: dropConstraintsFix(
        sessionConstraintsQuery,
        named,
        database,
        'Drop the CHECK constraints until the cut-over, or replace them with a trigger, which does not fire during the copy.',
      ),
    };
    if (broken.length > 0) return failOutcome(['continuous', 'dump'], observed, more);
    return {
      ...unknownOutcome(`${observed}, and it is not known whether every row satisfies the constraints`),
      premise: 'every row satisfies the CHECK constraints in a session on the target',
      ...more,
      detail: `${more.detail}${valuesOfTarget(named)}${storedSizes(named)}${suggestConstraintQueries(named)}`,
    };
  },
});

/** A setting with a dot in its name is defined by an application or an extension, and is not defined on the target. */
const customSetting = /current_setting\('[^']*\.[^']*'(::text)?\)/;

/**
 * Returns a note if a constraint uses values that the server computes or that its administrator has set, because such
 * values of the target are known only there.
 */
function valuesOfTarget(constraints: readonly SessionConstraint[]): string {
  return constraints.some(({ definition }) => serverPattern.test(definition))
    ? ' Values such as versions, settings and WAL positions differ on the target: `cloudctl db rehearse` shows whether the rows satisfy the constraint on the target.'
    : '';
}

function storedSizes(constraints: readonly SessionConstraint[]): string {
  return constraints.some(({ definition }) => /\bpg_column_(?:size|compression|toast_chunk_id)\(/.test(definition))
    ? ' The target evaluates the constraint before it compresses a value, so pg_column_size returns more than for the stored row here; octet_length does not depend on that.'
    : '';
}

const serverPattern =
  /current_setting\(|\b(?:version|pg_\w+|txid_\w+|inet_\w+|random\w*|gen_random_uuid|uuidv\d|nextval|currval|lastval|age|mxid_age|row_security_active)\(/;
