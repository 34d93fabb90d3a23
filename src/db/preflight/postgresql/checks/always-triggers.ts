import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier, requoteName } from '../../../../postgresql/quote.ts';
import { failOutcome, passOutcome, removalEffect, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { applyTriggersQuery } from '../queries/relations.ts';

export const alwaysTriggersCheck = declareDatabaseCheck({
  id: 'always-triggers',
  title: 'no trigger is ENABLE ALWAYS or ENABLE REPLICA',
  headline: 'A trigger is ENABLE ALWAYS or ENABLE REPLICA',
  severity: { continuous: 'blocker' },
  queries: { applyTriggers: applyTriggersQuery },
  evaluate({ applyTriggers }, database) {
    if (applyTriggers.length === 0) return passOutcome('none');
    // The fix disables an ENABLE REPLICA trigger: as an ordinary trigger it would fire in ordinary sessions, in which
    // it does not fire now.
    const statement = (table: string, action: string, name: string) =>
      `ALTER TABLE ${requoteName(table)} ${action} TRIGGER ${quoteIdentifier(name)}`;
    const acting = applyTriggers.filter(({ acts, unlogged }) => acts && !unlogged);
    const later = applyTriggers.some(({ unlogged }) => unlogged)
      ? ' Triggers on unlogged tables fire only if these tables are changed to LOGGED first.'
      : '';
    const more = {
      required: 'no trigger with ENABLE ALWAYS or ENABLE REPLICA',
      detail: `On the target these triggers fire again for every copied row and every applied change. Rows that the triggers write, for example into an audit table, are duplicated or violate a unique constraint ("duplicate key value violates unique constraint"), and the copy is retried endlessly.${later}${unlistedNote(applyTriggers)}`,
      objects: limitObjects(applyTriggers).map(
        ({ table, name, always }) => `${name} on ${table} (${always ? 'ALWAYS' : 'REPLICA'})`,
      ),
      fix: {
        sql: applyTriggers.map(({ table, name, always }) => statement(table, always ? 'ENABLE' : 'DISABLE', name)),
        undo: applyTriggers.map(({ table, name, always }) =>
          statement(table, always ? 'ENABLE ALWAYS' : 'ENABLE REPLICA', name),
        ),
        effects: [removalEffect(applyTriggersQuery, applyTriggers)],
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Change ENABLE ALWAYS triggers to ordinary triggers and disable ENABLE REPLICA triggers before the schema is copied. Restore the triggers on source and target after the cut-over. Do not change the triggers if this server is itself a subscriber that needs them.',
      },
    };
    // A trigger function that only returns the row has no effect, however often it is called.
    return acting.length === 0
      ? warnOutcome(countOf(applyTriggers.length, 'trigger'), more)
      : failOutcome(
          ['continuous'],
          `${countOf(applyTriggers.length, 'trigger')}, ${acting.length} with side effects`,
          more,
        );
  },
});
