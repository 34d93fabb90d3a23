import { describe, expect, test } from 'vitest';
import { tlsRequiredCheck } from '../../../../../src/db/preflight/postgresql/checks/tls-required.ts';
import { outcomeOf, refusedFacts } from '../login-facts.ts';

const off = { disableSsl: true };

describe('tls-required', () => {
  test('names the option to leave out', () => {
    const setup = refusedFacts('28000', 'no pg_hba.conf entry', { tls: { offered: 'yes', plaintext: 'refused' } });
    expect(outcomeOf(tlsRequiredCheck, setup, off)).toMatchObject({ status: 'fail', blocks: ['continuous', 'dump'] });
    expect(outcomeOf(tlsRequiredCheck, setup, off).fix?.text).toContain('--disable-ssl');
  });
});
