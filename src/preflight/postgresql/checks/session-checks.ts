import { fail, pass, unknown, warn } from '../../finding.ts';
import { removesRows } from '../../fix-effect.ts';
import { databaseCheck } from '../check.ts';
import { addConstraintNotValid, dropConstraint } from '../constraint-text.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import {
  type SessionDependentConstraint,
  sessionDependentConstraintsQuery,
} from '../queries/session-dependent-constraints.ts';
import { countText } from '../units.ts';

export const sessionChecksCheck = databaseCheck({
  id: 'session-checks',
  title: 'no CHECK constraint depends on the session or the role',
  headline: 'A CHECK constraint depends on the session or the role',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { sessionChecks: sessionDependentConstraintsQuery },
  evaluate({ sessionChecks }, database) {
    const filled = sessionChecks.filter((one) => one.rows !== 'none' && isSessionDependent(one));
    const broken = filled.filter((one) => one.rows === 'violate' || customSetting.test(one.definition));
    const unseen = filled.filter((one) => one.rows === 'unseen');
    const named = broken.length > 0 ? broken : unseen.length > 0 ? unseen : filled.filter(dependsOnRole);
    if (named.length === 0) return pass(sessionChecks.length === 0 ? 'none' : 'satisfied by every row');
    const observed = countText(named.length, 'constraint');
    const more = {
      required: 'none in tables with rows',
      detail: `A CHECK constraint is evaluated for every copied or applied row, by another role, with an empty search_path and without the settings of the application: "new row for relation … violates check constraint", "unrecognized configuration parameter", "relation … does not exist". The copy fails there on every attempt.${unlistedNote(named)}`,
      objects: firstObjects(named).map(({ name, owner, definition }) => `${name} on ${owner} ${definition}`),
      fix: {
        sql: named.map(dropConstraint),
        undo: named.map(addConstraintNotValid),
        effects: [removesRows(sessionDependentConstraintsQuery, named)],
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Drop them until the cut-over, or replace them with a trigger, which does not fire during the copy.',
      },
    };
    if (broken.length > 0) return fail(['continuous', 'dump'], observed, more);
    if (unseen.length > 0)
      return { ...unknown(`${observed}, and it is not known whether every row satisfies them`), ...more };
    return warn(observed, more);
  },
});

/** A setting with a dot in its name belongs to an application and is not defined on the target. */
const customSetting = /current_setting\('[^']*\.[^']*'(::text)?\)/;

/** A built-in setting exists on every server, so it does not matter here. */
function isSessionDependent({ definition }: SessionDependentConstraint): boolean {
  return !definition.includes('current_setting(') || customSetting.test(definition) || sessionPattern.test(definition);
}

/** The role that applies changes on the target can differ from the role that writes here. */
function dependsOnRole({ definition }: SessionDependentConstraint): boolean {
  return rolePattern.test(definition);
}

const rolePattern = /\b(CURRENT_USER|CURRENT_ROLE|SESSION_USER|USER)\b|"(current|session)_user"\(\)/;
const sessionPattern = new RegExp(`${rolePattern.source}|\\bto_reg|::regclass|schema`, 'i');
