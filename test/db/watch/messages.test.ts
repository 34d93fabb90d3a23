import { expect, it } from 'vitest';
import { classifyMessage, messageHints } from '../../../src/db/watch/service.ts';

const items = 'CONTEXT: … for replication target relation "public.items" column "amount" in transaction 7';

it.each([
  ['ERROR: could not extend file "pg_tblspc/1": No space left on device', 'target-disk-full', 'the disk of the target'],
  ['the target is read-only: it is in recovery, as a standby', 'target-read-only', 'the target'],
  ['ERROR: cannot execute INSERT in a read-only transaction', 'target-read-only', 'the target'],
  ['ERROR: canceling statement due to lock timeout (role "o" has lock_timeout=1s)', 'target-lock-timeout', 'o'],
  [`ERROR: canceling statement due to statement timeout ${items}`, 'target-lock-timeout', 'public.items'],
  ['the replication worker waits for a lock on public.t, held by process 12 of the target', 'target-lock', 'public.t'],
  [
    'the replication worker waits for a lock on public.t, held by process 12 of the target (role "o" has lock_timeout=1s)',
    'target-lock-timeout',
    'o',
  ],
  ['the subscription x is disabled', 'subscription-disabled', 'x'],
  [`ERROR: duplicate key value violates unique constraint "p" ${items}`, 'target-conflict', 'public.items'],
  ['ERROR: conflict detected on relation "public.t": conflict=insert_exists', 'target-conflict', 'public.t'],
  ['ERROR: logical replication target relation "public.t" does not exist', 'target-schema', 'public.t'],
  [
    'ERROR: logical replication target relation "public.t" is missing replicated column: "note"',
    'target-schema',
    'public.t.note',
  ],
  [`ERROR: invalid input syntax for type integer: "many" ${items}`, 'target-schema', 'public.items.amount'],
  ['ERROR: publication "p" does not exist', 'publication-dropped', 'p'],
  ['the replication slot s does not exist any more', 'slot-dropped', 's'],
  ['FATAL: password authentication failed for user "mover"', 'login-refused', 'mover'],
  ['FATAL: no pg_hba.conf entry for host "1.2.3.4"', 'pg-hba-changed', 'pg_hba.conf'],
  ['could not reach the target: connection refused', 'target-stopped', 'the target'],
])('%s', (text, rule, object) => {
  expect(classifyMessage(text)).toMatchObject({ rule, object });
  expect(messageHints[rule]).toBeTypeOf('string');
});

it('the conflicting row can be removed, with everything quoted', () => {
  const context = 'for replication target relation "public.it""ems"';
  const text = (key: string) =>
    `violates unique constraint "p" DETAIL: Key ${key} already exists. CONTEXT: for replication target relation "public.items"`;
  expect(classifyMessage(text("(id)=(7'0)"))?.fix).toEqual({
    run_on: 'target',
    statement: `DELETE FROM "public"."items" WHERE "id" = '7''0';`,
  });
  // Values of several columns are not quoted in the message.
  expect(classifyMessage(text('(a, b)=(1, 2)'))?.fix).toBeUndefined();
  expect(classifyMessage(`violates unique constraint "p" DETAIL: Key (id)=(1) ${context}`)?.fix).toBeUndefined();
});

it('other texts name no cause, at any length', () => {
  expect(classifyMessage('running')).toBeUndefined();
  expect(classifyMessage('waits for a lock on '.repeat(100))).toBeUndefined();
});
