import { describe, expect, test } from 'vitest';
import { postgresqlVersionNotNewerCheck } from '../../../../../src/db/preflight/postgresql/checks/version-not-newer.ts';
import { entered, healthyFacts, outcomeOf } from '../login-facts.ts';

const of = (version: number) => ({ ...healthyFacts, connection: { ...entered, version } });

describe('version-not-newer', () => {
  test.each([
    [150018, '15', 'pass'],
    [150018, '15.1', 'pass'],
    [150018, '18', 'pass'],
    [150018, '14', 'fail'],
    [180004, '17', 'fail'],
    [90624, '10', 'pass'],
    [90624, '9.6', 'pass'],
    [100023, '9.6', 'fail'],
  ])('source %d into %s is %s', (version, targetVersion, status) => {
    const outcome = outcomeOf(postgresqlVersionNotNewerCheck, of(version), { targetVersion });
    expect(outcome.status).toBe(status);
    expect(outcome.blocks).toEqual(status === 'fail' ? ['continuous', 'dump'] : []);
  });

  test.each([undefined, 'newest'])('a target of %s is unknown, and the option is named', (targetVersion) => {
    const outcome = outcomeOf(postgresqlVersionNotNewerCheck, of(150018), { targetVersion });
    expect(outcome.status).toBe('unknown');
    expect(outcome.fix?.text).toContain('--target-version');
  });
});
