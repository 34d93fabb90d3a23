import { expect, test } from 'vitest';
import { CliError } from '../../../src/base/errors.ts';
import type { StopCause } from '../../../src/db/watch/sample.ts';
import {
  addServiceStatus,
  classifyMessage,
  createServicePoller,
  hasFailedAtService,
  messageHints,
} from '../../../src/db/watch/service.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { makeStatusSample } from './view/status-samples.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('the service is asked every 10 s at most, and not while an answer is awaited', async () => {
  let now = 0;
  let asked = 0;
  let answer = (_status: undefined) => {};
  const poller = createServicePoller(
    () => {
      asked += 1;
      return new Promise<undefined>((resolve) => {
        answer = resolve;
      });
    },
    () => now,
  );
  expect(poller.latest()).toBeUndefined();
  now = 20_000;
  poller.latest();
  expect(asked).toBe(1);
  answer(undefined);
  await settled();
  expect(poller.latest()).toEqual({ kind: 'none' });
  expect(asked).toBe(2);
  answer(undefined);
  await settled();
  now = 29_999;
  poller.latest();
  expect(asked).toBe(2);
});

test('an error is a note, and the next answer replaces it', async () => {
  let now = 0;
  const answers = [
    () => Promise.reject(new CliError('unreachable', 'could not reach api.example')),
    async () => ({ status: 'running', raw: {} }),
  ];
  const poller = createServicePoller(
    () => answers.shift()?.() ?? Promise.resolve(undefined),
    () => now,
  );
  poller.latest();
  await settled();
  const sample = makeStatusSample({ notes: ['one'] });
  expectGolden('db-watch', (addServiceStatus(sample, poller.latest(), 'cloudctl db status c').notes ?? []).join('\n'));
  now = 10_000;
  poller.latest();
  await settled();
  expect(addServiceStatus(sample, poller.latest(), 'cloudctl db status c')).toEqual({
    ...sample,
    server_status: 'running',
  });
});

test('an unexpected error ends the watch', async () => {
  const poller = createServicePoller(
    () => Promise.reject(new TypeError('internal')),
    () => 0,
  );
  poller.latest();
  await settled();
  expect(() => poller.latest()).toThrow(TypeError);
});

const groupCause: StopCause = {
  rule: 'target-disconnected',
  database: 'shop',
  object: 's',
  observed: 'the slot s has had no consumer for 45 s',
  hint: 'one of these',
  fix: { run_on: 'target', statement: 'SELECT 1;' },
  basis: 'group',
  candidates: ['target-lock'],
};
const stoppedAtService = (phase: string, reason: string) =>
  ({
    kind: 'known',
    migration: { status: 'running', raw: { databases: [{ name: 'shop', phase, reason }] } },
  }) as const;

test.each([
  ['a reason that is no candidate', 'password authentication failed for user "mover"', 'login-refused'],
  ['a target that does not answer', 'could not reach the target: no answer within 10 s', 'target-stopped'],
])('what the service says now of a stopped database is its cause: %s', (_what, reason, rule) => {
  const sample = makeStatusSample({ cause: groupCause, violations: [groupCause] });
  const shown = addServiceStatus(sample, stoppedAtService('apply_stopped', reason), 'cloudctl db status c');
  expect(shown.cause).toMatchObject({ rule, observed: expect.stringContaining(reason) });
  expect(shown.violations).toEqual([shown.cause]);
});

test('what the service says of a stopped database is shown before the source shows a stop, and when no rule knows it', () => {
  const early = addServiceStatus(
    makeStatusSample(),
    stoppedAtService('link_down', 'the link is down'),
    'cloudctl db status c',
  );
  expect(early.violations.map(({ rule }) => rule)).toEqual(['service-reported']);
  expectGolden('db-watch', `${early.violations[0]?.observed}\n${early.violations[0]?.hint}`);
  const sample = makeStatusSample({ cause: groupCause, violations: [groupCause] });
  const unknown = addServiceStatus(
    sample,
    stoppedAtService('apply_stopped', 'ERROR:  audit is full'),
    'cloudctl db status c',
  );
  expect(unknown.violations.map(({ rule }) => rule)).toEqual(['service-reported', 'target-disconnected']);
  expect(addServiceStatus(sample, stoppedAtService('streaming', 'old'), 'cloudctl db status c').violations).toEqual([
    groupCause,
  ]);
});

test('a status that has ended is the first violation, with reasons that act on no terminal', () => {
  const raw = { reason: 'a\u001b[31m', databases: [{ name: 'd', error: 'b' }, { name: 'e' }, 7] };
  const status = { kind: 'known', migration: { status: 'error', raw } } as const;
  const [first] = addServiceStatus(makeStatusSample(), status, 'cloudctl db status c').violations;
  expect(first?.rule).toBe('server-status');
  expectGolden('db-watch', `${first?.observed}\n${first?.hint}`);
  expect(hasFailedAtService(status)).toBe(true);
  expect(hasFailedAtService({ kind: 'known', migration: { status: 'canceled', raw: {} } })).toBe(false);
  const [none] = addServiceStatus(makeStatusSample(), { kind: 'none' }, 'cloudctl db status c').violations;
  expect(none?.hint).toContain('cloudctl db status c');
});

const items = 'CONTEXT: … for replication target relation "public.items" column "amount" in transaction 7';

test.each([
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

test('the conflicting row can be removed, with everything quoted', () => {
  const context = 'for replication target relation "public.it""ems"';
  const text = (key: string) =>
    `violates unique constraint "p" DETAIL: Key ${key} already exists. CONTEXT: for replication target relation "public.items"`;
  expect(classifyMessage(text("(id)=(7'0)"))?.fix).toEqual({
    run_on: 'target',
    statement: `DELETE FROM "public"."items" WHERE "id" OPERATOR(pg_catalog.=) '7''0';`,
  });
  // Values of several columns are not quoted in the message.
  expect(classifyMessage(text('(a, b)=(1, 2)'))?.fix).toBeUndefined();
  expect(classifyMessage(`violates unique constraint "p" DETAIL: Key (id)=(1) ${context}`)?.fix).toBeUndefined();
});

test('other texts name no cause, at any length', () => {
  expect(classifyMessage('running')).toBeUndefined();
  expect(classifyMessage('waits for a lock on '.repeat(100))).toBeUndefined();
});
