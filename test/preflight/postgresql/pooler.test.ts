import { expect, test } from 'vitest';
import { poolerDetected } from '../../../src/preflight/postgresql/pooler.ts';
import { entered, healthyGround, outcomeOf } from './way-in.ts';

test('the process that was told answers: no pooler', () => {
  expect(outcomeOf(poolerDetected, healthyGround)).toMatchObject({ status: 'pass' });
});

test('another port behind a forwarder is a remark, not a pooler', () => {
  const outcome = outcomeOf(poolerDetected, { ...healthyGround, entry: { ...entered, serverPort: 6000 } });
  expect(outcome).toMatchObject({ status: 'pass' });
  expect(outcome.detail).toContain('6000');
});

test('another process blocks both methods, and the port behind is told', () => {
  const entry = { ...entered, pooler: 'it told process 1 at login, and process 2 answered', serverPort: 6000 };
  const outcome = outcomeOf(poolerDetected, { ...healthyGround, entry });
  expect(outcome).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'], observed: entry.pooler });
  expect(outcome.fix?.text).toContain('listens on 6000');
});

test('a pooler that refuses is told with its words', () => {
  const entry = {
    kind: 'refused',
    code: '08P01',
    message: 'no such database: d1',
    pooler: 'PgBouncer 1.18.0',
  } as const;
  expect(outcomeOf(poolerDetected, { ...healthyGround, entry }).observed).toBe(
    'PgBouncer 1.18.0: no such database: d1',
  );
});
