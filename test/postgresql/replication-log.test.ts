import { expect, it } from 'vitest';
import { lastReplicationError } from '../../src/postgresql/replication-log.ts';

const conflict = `2026-11-23 08:00:00 UTC [12] ERROR:  duplicate key value violates unique constraint "items_pkey"
2026-11-23 08:00:00 UTC [12] DETAIL:  Key (id)=(7000) already exists.
2026-11-23 08:00:00 UTC [12] CONTEXT:  processing remote data for replication origin "pg_16398" during message type "INSERT" for replication target relation "public.items" in transaction 738, finished at 0/171E1C0
2026-11-23 08:00:00 UTC [1] LOG:  background worker "logical replication apply worker" (PID 12) exited with exit code 1
`;

it('the last error of a replication worker is found with its detail, also with other errors after it', () => {
  const other = '2026-11-23 08:00:01 UTC [99] ERROR:  relation "nothing" does not exist at character 15\n';
  const found = lastReplicationError(`${conflict}${other}`);
  expect(found).toMatch(/^ERROR: {2}duplicate key .* DETAIL: .*\(7000\).* CONTEXT: .*"public\.items"/);
  expect(lastReplicationError(`${found}\r\n%p FATAL: could not connect to the publisher: refused\r\n`)).toMatch(
    /^FATAL: /,
  );
});

it.each([
  ['an empty log', ''],
  ['errors of others', 'ERROR:  syntax error at or near "x"\n'],
  ['a worker that was ended', 'FATAL:  terminating logical replication worker due to administrator command\n'],
  ['a worker that waits for its predecessor', 'ERROR:  replication origin with ID 1 is already active for PID 4\n'],
])('%s has none', (_what, log) => {
  expect(lastReplicationError(log)).toBeUndefined();
});

it('a line of any length gives a bounded text', () => {
  expect(lastReplicationError(`PANIC:  no space left on device ${'x'.repeat(100_000)}`)?.length).toBe(800);
});

it('an error in a trigger is one of replication, because the last line of its context says so', () => {
  const log = [
    '12 shop ERROR:  audit is full',
    '12 shop CONTEXT:  PL/pgSQL function public.boom() line 1 at RAISE',
    '\tprocessing remote data for replication origin "pg_16401" during message type "INSERT" for replication target relation "public.orders" in transaction 7',
    '12 shop STATEMENT:  SELECT',
    '\t1',
    '10  LOG:  background worker "logical replication apply worker" (PID 12) exited with exit code 1',
  ].join('\n');
  const found = lastReplicationError(log);
  expect(found).toMatch(/^ERROR: {2}audit is full CONTEXT: .*pg_16401.*\d+$/);
  expect(found).not.toContain('STATEMENT');
});
