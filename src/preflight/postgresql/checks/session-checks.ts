import { fail, pass, unknown, warn } from '../../finding.ts';
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
    const filled = sessionChecks.filter((one) => one.rows !== 'none' && matters(one));
    const broken = filled.filter((one) => one.rows === 'violate' || ownSetting.test(one.definition));
    const unseen = filled.filter((one) => one.rows === 'unseen');
    const named = broken.length > 0 ? broken : unseen.length > 0 ? unseen : filled.filter(asksWho);
    if (named.length === 0) return pass(sessionChecks.length === 0 ? 'none' : 'every row fits');
    const observed = countText(named.length, 'constraint');
    const more = {
      required: 'none, where there are rows',
      detail: `A CHECK is asked again for every row that is copied or applied, by another role, with an empty search_path and nothing of what an application sets: "new row for relation … violates check constraint", "unrecognized configuration parameter", "relation … does not exist". The copy ends there, each time it is tried.${unlistedNote(named)}`,
      objects: firstObjects(named).map(({ name, owner, definition }) => `${name} on ${owner} ${definition}`),
      fix: {
        sql: named.map(dropConstraint),
        undo: named.map(addConstraintNotValid),
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Drop them until the cut-over, or for good in favour of a trigger, which does not fire while rows are copied.',
      },
    };
    if (broken.length > 0) return fail(['continuous', 'dump'], observed, more);
    if (unseen.length > 0) return { ...unknown(`${observed}, and nobody can tell whether every row fits`), ...more };
    return warn(observed, more);
  },
});

/** A name with a dot is a setting of an application, which no server knows that was not told. */
const ownSetting = /current_setting\('[^']*\.[^']*'(::text)?\)/;

/** Any other setting is there on every server. */
function matters({ definition }: SessionDependentConstraint): boolean {
  return !definition.includes('current_setting(') || ownSetting.test(definition) || session.test(definition);
}

/** The role that asks is one, and the one that applies may be another. */
function asksWho({ definition }: SessionDependentConstraint): boolean {
  return who.test(definition);
}

const who = /\b(CURRENT_USER|CURRENT_ROLE|SESSION_USER|USER)\b|"(current|session)_user"\(\)/;
const session = new RegExp(`${who.source}|\\bto_reg|::regclass|schema`, 'i');
