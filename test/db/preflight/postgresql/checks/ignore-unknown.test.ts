import { expect, test } from 'vitest';
import { ignoredDatabasesExistCheck } from '../../../../../src/db/preflight/postgresql/checks/ignore-unknown.ts';
import { preflightOptions, sourceFacts } from '../facts.ts';

test('the ignored databases are named', () => {
  expect(
    ignoredDatabasesExistCheck.evaluate({ databases: [] }, sourceFacts(), preflightOptions({ ignoreDbs: ['d2'] })),
  ).toMatchObject({
    status: 'pass',
    observed: '1 database ignored',
    objects: ['d2'],
  });
});
