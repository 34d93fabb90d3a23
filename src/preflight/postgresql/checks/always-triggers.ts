import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { applyTriggersQuery } from '../queries/triggers.ts';
import { countText } from '../units.ts';

export const alwaysTriggersCheck = databaseCheck({
  id: 'always-triggers',
  title: 'no trigger is ENABLE ALWAYS or ENABLE REPLICA',
  headline: 'A trigger is ENABLE ALWAYS or ENABLE REPLICA',
  severity: { continuous: 'blocker' },
  queries: { applyTriggers: applyTriggersQuery },
  evaluate({ applyTriggers }, database) {
    if (applyTriggers.length === 0) return pass('none');
    // A REPLICA trigger is silent here; made an ordinary one it would begin to fire.
    const statement = (table: string, way: string, name: string) =>
      `ALTER TABLE ${table} ${way} TRIGGER ${quoteIdentifier(name)}`;
    const acting = applyTriggers.filter(({ acts, unlogged }) => acts && !unlogged);
    const later = applyTriggers.some(({ unlogged }) => unlogged)
      ? ' Those on unlogged tables fire only when these are made logged before.'
      : '';
    const more = {
      required: 'none with ENABLE ALWAYS or ENABLE REPLICA',
      detail: `On the target they fire for every row copied and every change applied, though they have fired here: rows of an audit table come twice, or collide ("duplicate key value violates unique constraint"), and the copy is tried again for ever.${later}${unlistedNote(applyTriggers)}`,
      objects: firstObjects(applyTriggers).map(
        ({ table, name, always }) => `${name} on ${table} (${always ? 'ALWAYS' : 'REPLICA'})`,
      ),
      fix: {
        sql: applyTriggers.map(({ table, name, always }) => statement(table, always ? 'ENABLE' : 'DISABLE', name)),
        undo: applyTriggers.map(({ table, name, always }) =>
          statement(table, always ? 'ENABLE ALWAYS' : 'ENABLE REPLICA', name),
        ),
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Make them ordinary triggers (those of the kind REPLICA: disable them) before the schema is copied, and restore them here and on the target after the cut-over. Not where this server is itself a subscriber and needs them.',
      },
    };
    // What only gives the row back changes nothing, however often it fires.
    return acting.length === 0
      ? warn(countText(applyTriggers.length, 'trigger'), more)
      : fail(
          ['continuous'],
          `${countText(applyTriggers.length, 'trigger')}, ${acting.length} of them with effects`,
          more,
        );
  },
});
