import { describe, expect, test } from 'vitest';
import { selfTargetCheck } from '../../../../../src/db/preflight/postgresql/checks/self-target.ts';
import { healthyFacts, outcomeOf } from '../login-facts.ts';

describe('self-target', () => {
  test.each([
    ['DB.example.com.', 5432, 'fail'],
    ['8.8.4.4', 5432, 'fail'],
    ['db.example.com', 5433, 'pass'],
    ['other.example.com', 5432, 'pass'],
  ])('%s:%d is %s', (host, port, status) => {
    expect(outcomeOf(selfTargetCheck, healthyFacts, { target: { host, port } }).status).toBe(status);
  });
});
