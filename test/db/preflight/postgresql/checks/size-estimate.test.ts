import { expect, test } from 'vitest';
import { sizeEstimateCheck } from '../../../../../src/db/preflight/postgresql/checks/size-estimate.ts';
import { ready, startPostgres } from '../../../../fixtures/postgres.ts';
import { copy, preflightOptions, short, sourceFacts } from '../facts.ts';
import { preflightServer } from '../preflight.ts';

const terabyte = 1e12;

test.each([
  { what: 'a small source', bytes: 1e9, verdict: 'info' },
  { what: 'two weeks at the slow end', bytes: 30 * terabyte, verdict: 'warn' },
  { what: 'two weeks at the fast end', bytes: 61 * terabyte, verdict: 'fail continuous+dump' },
])('$what: $verdict', ({ bytes, verdict }) => {
  expect(short(sizeEstimateCheck.evaluate({}, sourceFacts({ copy: copy(bytes, ['d1']) }), preflightOptions()))).toBe(
    verdict,
  );
});

test('the partitions of a table are counted on a real server', async () => {
  const server = await startPostgres({ version: 15, settings: ready });
  await server.query('CREATE TABLE p (id int, k int, PRIMARY KEY (id, k)) PARTITION BY LIST (k)');
  await server.query(
    "DO $$BEGIN FOR i IN 1..600 LOOP EXECUTE format('CREATE TABLE p_%s PARTITION OF p FOR VALUES IN (%s)', i, i); END LOOP; END$$",
  );
  const { estimate } = await preflightServer(server);
  expect(estimate?.seconds_low).toBeGreaterThan(5);
  expect(estimate?.seconds_high).toBeGreaterThan(40);
});
