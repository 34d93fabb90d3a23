import { describe, expect, test } from 'vitest';
import type { AddressFacts } from '../../../../src/db/preflight/network/addresses.ts';
import {
  evaluateContradictions,
  evaluateIpv6Only,
  evaluatePublicAddress,
  evaluateSplitHorizon,
  usesLoopback,
} from '../../../../src/db/preflight/network/evaluate.ts';
import { expectGolden } from '../../../fixtures/golden.ts';
import { outcomeText } from '../outcome-text.ts';
import { failed, found, healthyAddress, healthyWish, literal } from './sample.ts';

const every = ['continuous', 'dump'] as const;
const near = { ...healthyWish, isOverInternet: false };
const address = (facts: Partial<AddressFacts>): AddressFacts => ({ ...healthyAddress, ...facts });

describe('host-parse', () => {
  test('passes without contradictions', () => {
    expect(evaluateContradictions(healthyAddress, every)).toMatchObject({
      status: 'pass',
      observed: 'db.example.com, port 5432',
    });
  });
  test('fails and lists each contradiction', () => {
    const contradictions = ['--host says port 1, and --port says 2', '--host says dbname a, and --dbname says b'];
    expect(evaluateContradictions(address({ contradictions }), every)).toMatchObject({
      status: 'fail',
      blocks: every,
      observed: contradictions.join('; '),
    });
  });
});

describe('host-public-address', () => {
  const outside = 'fail';
  test.each([
    ['a public name', {}, 'pass'],
    ['a private address in DNS', { dns4: found('10.0.0.5') }, outside],
    ['a private and a public address', { dns4: found('10.0.0.5', '8.8.4.4') }, 'warn'],
    ['a public address in DNS and a private one here', { lookup: found('10.0.0.5') }, 'pass'],
    ['a name that is not in DNS', { dns4: failed(), dns6: failed() }, outside],
    ['a name without any address', { lookup: failed(), dns4: failed(), dns6: failed(), connects: [] }, outside],
    ['a name without a dot', { host: 'postgres' }, outside],
    ['a name of the local network', { host: 'db.local' }, outside],
    ['no name server', { dns4: failed('ETIMEOUT', 'no answer'), dns6: failed('ETIMEOUT', 'no answer') }, 'pass'],
    [
      'no name server and a private address',
      { lookup: found('10.0.0.5'), dns4: failed('ETIMEOUT', 'x'), dns6: failed('ETIMEOUT', 'x') },
      outside,
    ],
    ['an IPv6 address alone', { dns4: failed('ENODATA'), dns6: found('2606:4700::1') }, 'pass'],
  ] as const)('%s', (_what, facts, status) => {
    const outcome = evaluatePublicAddress(address(facts), healthyWish, every);
    expect(outcome.status).toBe(status);
    expectGolden('db-preflight-network', outcomeText(outcome));
    expect(outcome.blocks).toEqual(status === 'fail' ? every : []);
  });

  test.each(['127.0.0.1', '::1', '10.0.0.5', '192.168.1.4', 'fd00::1', '::ffff:10.0.0.1'])(
    '%s fails for a service on the internet and passes for one on this network',
    (host) => {
      expect(evaluatePublicAddress(literal(host), healthyWish, every).status).toBe('fail');
      expect(evaluatePublicAddress(literal(host), near, every).status).toBe('pass');
    },
  );

  test('near by, a name of the local network passes, and one nobody knows still fails', () => {
    const local = address({ host: 'db.local', lookup: found('10.0.0.5'), dns4: failed(), dns6: failed() });
    expect(evaluatePublicAddress(local, near, every).status).toBe('pass');
    expect(
      evaluatePublicAddress(address({ lookup: failed(), dns4: failed(), dns6: failed() }), near, every).status,
    ).toBe('fail');
  });

  test('the cure mentions --allow-private', () => {
    expect(evaluatePublicAddress(literal('10.0.0.5'), healthyWish, every).fix?.text).toContain('--allow-private');
  });
});

describe('host-split-horizon', () => {
  test.each([
    ['the same answer', {}, 'pass'],
    ['an address', literal('8.8.4.4'), 'pass'],
    ['one of several in common', { lookup: found('8.8.4.4', '8.8.8.8'), dns4: found('8.8.4.4', '9.9.9.9') }, 'pass'],
    ['another answer here', { lookup: found('10.0.0.5') }, 'warn'],
    ['an answer here alone', { dns4: failed(), dns6: failed() }, 'warn'],
    ['no name server', { dns4: failed('ETIMEOUT', 'x'), dns6: failed('ETIMEOUT', 'x') }, 'skip'],
    ['no answer here', { lookup: failed() }, 'skip'],
  ] as const)('%s', (_what, facts, status) => {
    expect(evaluateSplitHorizon(address(facts), healthyWish).status).toBe(status);
  });
  test('a service near by sees what is seen here', () => {
    expect(evaluateSplitHorizon(address({ lookup: found('10.0.0.5') }), near).status).toBe('skip');
  });
});

describe('host-ipv6-only', () => {
  test.each([
    ['IPv4 alone', {}, 'pass'],
    ['both', { dns6: found('2606:4700::1') }, 'pass'],
    ['IPv6 alone', { dns4: failed('ENODATA'), dns6: found('2606:4700::1'), lookup: found('2606:4700::1') }, 'warn'],
    ['an IPv6 address', literal('2606:4700::1'), 'warn'],
    ['an IPv4 address', literal('8.8.4.4'), 'pass'],
    [
      'no name server, IPv6 here',
      { dns4: failed('ETIMEOUT'), dns6: failed('ETIMEOUT'), lookup: found('2606:4700::1') },
      'warn',
    ],
    ['nothing', { dns4: failed(), dns6: failed(), lookup: failed() }, 'skip'],
  ] as const)('%s', (_what, facts, status) => {
    expect(evaluateIpv6Only(address(facts), healthyWish).status).toBe(status);
  });
  test('on this network IPv6 is enough', () => {
    expect(evaluateIpv6Only(literal('::1'), near).status).toBe('pass');
  });
});

test('loopback is dialled when no connection left the machine', () => {
  expect(usesLoopback(literal('127.0.0.1'))).toBe(true);
  expect(usesLoopback(healthyAddress)).toBe(false);
  expect(usesLoopback(address({ connects: [] }))).toBe(false);
});
