import { quoteIdentifier } from '../../../postgresql/quote.ts';
import { type CheckOutcome, fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { raisesException } from '../function-body/raises-exception.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { relationsQuery } from '../queries/relations.ts';
import { type EventTrigger, eventTriggersQuery } from '../queries/triggers.ts';
import { countText } from '../units.ts';

export const eventTriggersCheck = databaseCheck({
  id: 'event-triggers',
  title: 'the database has no event triggers',
  headline: 'The database has event triggers',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { eventTriggers: eventTriggersQuery, relations: relationsQuery },
  evaluate({ eventTriggers, relations }, database) {
    if (eventTriggers.length === 0) return pass('none');
    const ofKind = (how: ReturnType<typeof raisesException>) =>
      eventTriggers.filter(({ body }) => body !== undefined && raisesException(body) === how);
    const forbidding = ofKind('always');
    if (forbidding.length > 0) return forbidden(forbidding, database);
    const writing = eventTriggers.filter(({ atLogin }) => atLogin !== undefined && writes(atLogin, relations.unlogged));
    if (writing.length > 0) return keepingBooks(writing, database);
    const names = eventTriggers.map(({ name }) => name);
    const picky = ofKind('sometimes').map(({ name }) => name);
    const doubtful =
      picky.length === 0
        ? ''
        : ` ${firstObjects(picky).join(', ')} may raise an exception: see that CREATE PUBLICATION here and CREATE SUBSCRIPTION on the target pass.`;
    return warn(countText(names.length, 'event trigger'), {
      required: 'none',
      detail: `Only a superuser makes them, so on a managed target the restore says "permission denied to create event trigger", goes on, and they are missing.${doubtful}${unlistedNote(names)}`,
      objects: firstObjects(names),
      fix: { by: 'who owns the schema', text: 'Do without them on the target, or drop them before the migration.' },
    });
  },
});

/** Into a table that is copied; of unlogged ones no rows are. */
function writes(body: string, unlogged: readonly string[]): boolean {
  const lastPart = (name: string) => name.slice(name.lastIndexOf('.') + 1).replaceAll('"', '');
  const tables = [
    ...body.matchAll(/\b(?:insert\s+into|update|delete\s+from|merge\s+into)\s+(?:only\s+)?((?:[\w.$]|"[^"]*")+)/gi),
  ];
  return tables.some(([, name = '']) => !unlogged.some((one) => lastPart(one) === lastPart(name)));
}

function keepingBooks(found: readonly EventTrigger[], database: string): CheckOutcome {
  return fail(
    ['continuous', 'dump'],
    `${countText(found.length, 'event trigger')} that write${found.length === 1 ? 's' : ''} at every login`,
    {
      required: 'none that writes into a table that is copied',
      detail: `Restored, they write on the target at every login of who restores, copies and looks, before the rows of the same table come: "duplicate key value violates unique constraint", or rows that nobody wrote here.${unlistedNote(found.map(({ name }) => name))}`,
      objects: firstObjects(found.map(({ name }) => name)),
      fix: {
        sql: turned(found, 'DISABLE'),
        undo: turned(found, 'ENABLE'),
        database,
        by: 'a superuser',
        text: 'Disable them until the cut-over; a disabled one is restored as such.',
      },
    },
  );
}

function turned(found: readonly EventTrigger[], how: 'DISABLE' | 'ENABLE'): readonly string[] {
  return found.map(({ name }) => `ALTER EVENT TRIGGER ${quoteIdentifier(name)} ${how}`);
}

function forbidden(found: readonly EventTrigger[], database: string): CheckOutcome {
  return fail(
    ['continuous'],
    `${countText(found.length, 'event trigger')} that forbid${found.length === 1 ? 's' : ''} DDL`,
    {
      required: 'none that raises an exception at CREATE PUBLICATION or CREATE SUBSCRIPTION',
      detail: `They fire for the CREATE PUBLICATION here and, once they are restored, for the CREATE SUBSCRIPTION on the target, and end both.${unlistedNote(found)}`,
      objects: firstObjects(found.map(({ name }) => name)),
      fix: {
        sql: turned(found, 'DISABLE'),
        undo: turned(found, 'ENABLE'),
        database,
        by: 'a superuser',
        text: 'Disable them until the cut-over: CREATE PUBLICATION and CREATE SUBSCRIPTION can then be said.',
      },
    },
  );
}
