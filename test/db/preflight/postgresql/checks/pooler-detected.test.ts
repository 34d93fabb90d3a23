import { expect, test } from 'vitest';
import { poolerDetectedCheck } from '../../../../../src/db/preflight/postgresql/checks/pooler-detected.ts';
import { entered, healthyFacts, outcomeOf } from '../login-facts.ts';

test('the same backend process responds: no pooler', () => {
  expect(outcomeOf(poolerDetectedCheck, healthyFacts)).toMatchObject({ status: 'pass' });
});

test('another port behind a forwarder is a remark, not a pooler', () => {
  const outcome = outcomeOf(poolerDetectedCheck, { ...healthyFacts, connection: { ...entered, serverPort: 6000 } });
  expect(outcome).toMatchObject({ status: 'pass' });
  expect(outcome.detail).toContain('6000');
});

test('another backend process blocks both methods, and the server port is reported', () => {
  const entry = { ...entered, pooler: 'it told process 1 at login, and process 2 answered', serverPort: 6000 };
  const outcome = outcomeOf(poolerDetectedCheck, { ...healthyFacts, connection: entry });
  expect(outcome).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'], observed: entry.pooler });
  expect(outcome.fix?.text).toContain('listens on 6000');
});

test('an error of a pooler is reported as it is', () => {
  const entry = {
    kind: 'refused',
    code: '08P01',
    message: 'no such database: d1',
    pooler: 'PgBouncer 1.18.0',
  } as const;
  expect(outcomeOf(poolerDetectedCheck, { ...healthyFacts, connection: entry }).observed).toBe(
    'PgBouncer 1.18.0: no such database: d1',
  );
});
