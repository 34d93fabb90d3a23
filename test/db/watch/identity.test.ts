import { describe, expect, it } from 'vitest';
import {
  confirmIdentity,
  formatIdentity,
  type IdentityHints,
  identifyConsumer,
  type KnownConsumer,
  readServiceWord,
  silentService,
  weakestIdentity,
} from '../../../src/db/watch/identity.ts';

const id = '0f6a1c2e-7b9d-4c1a-9a55-3b643ad765aa';
const record = { named: [], id, before: ['cdc'] };

describe('a slot of a database', () => {
  it.each<[string, readonly string[], KnownConsumer | undefined, Partial<IdentityHints>, object]>([
    [
      'that --slot names is proven',
      ['a', 'b'],
      undefined,
      { named: ['b'] },
      { name: 'b', identity: { grade: 'proven' } },
    ],
    ['that --slot does not name is not followed', ['a'], undefined, { named: ['b'] }, { name: undefined }],
    [
      'whose name holds the id of the record is proven',
      ['cloudctl_old_1', `cloudctl_${id.replaceAll('-', '')}_16384`],
      undefined,
      record,
      { name: `cloudctl_${id.replaceAll('-', '')}_16384`, identity: { grade: 'proven' } },
    ],
    [
      'is not proven by an id of two characters',
      ['cloudctl_m1', 'cdc'],
      undefined,
      { ...record, id: 'm1' },
      { name: 'cloudctl_m1', identity: { grade: 'inferred' } },
    ],
    [
      'that a subscription of the target reads is proven',
      ['a', 'b'],
      undefined,
      { target: { slots: [{ name: 'b', database: 'shop' }], system: undefined } },
      { name: 'b', identity: { grade: 'proven' } },
    ],
    [
      'is not proven by a subscription of another database',
      ['b'],
      undefined,
      { target: { slots: [{ name: 'b', database: 'crm' }], system: undefined } },
      { name: 'b', identity: { grade: 'assumed' } },
    ],
    [
      'beside which the target was seen copying is proven',
      ['a', 'b'],
      { name: 'a', system: '771' },
      { target: { slots: [], system: '771' } },
      { name: 'a', identity: { grade: 'proven' } },
    ],
    [
      'is inferred as the only new one',
      ['cdc', 'a'],
      undefined,
      record,
      { name: 'a', identity: { grade: 'inferred' } },
    ],
    [
      'is assumed where two are new',
      ['a', 'b'],
      undefined,
      record,
      { identity: { grade: 'assumed', candidates: ['a', 'b'] } },
    ],
    [
      'of which a second appears later is assumed',
      ['a', 'b'],
      { name: 'a', grade: 'inferred', by: 'x' },
      record,
      { name: 'a', identity: { grade: 'assumed', candidates: ['a', 'b'] } },
    ],
    [
      'is assumed without a state before the start',
      ['a'],
      undefined,
      { id },
      { name: 'a', identity: { grade: 'assumed', candidates: ['a'] } },
    ],
    [
      'is assumed without a start, whatever its prefix',
      ['a', 'cloudctl_old_1'],
      undefined,
      {},
      { name: 'cloudctl_old_1', identity: { grade: 'assumed', candidates: ['a', 'cloudctl_old_1'] } },
    ],
    [
      'stays proven as it was recorded',
      ['a', 'b'],
      { name: 'b', grade: 'proven', by: '--slot' },
      record,
      { name: 'b', identity: { grade: 'proven', by: '--slot' } },
    ],
    [
      'never takes the place of a known one that is missing',
      ['b'],
      { name: 'a', grade: 'proven', by: '--slot' },
      record,
      { name: undefined, identity: { grade: 'assumed', candidates: ['b'] } },
    ],
    ['that existed before is none', ['cdc'], undefined, record, { name: undefined, identity: undefined }],
    [
      'is not proven by a name that two replicas announce',
      ['a', 'a'],
      undefined,
      { named: ['a'] },
      { identity: { grade: 'assumed', candidates: ['a'] } },
    ],
  ])('%s', (_what, names, known, hints, expected) => {
    const found = identifyConsumer(names, known, { named: [], ...hints }, { database: 'shop', noun: 'slot' });
    expect(found).toMatchObject(expected);
  });
});

describe('the word of the service', () => {
  const raw = (more: object = {}) => ({ raw: { ...more } });
  const inferred = { grade: 'inferred', by: 'x' } as const;

  it('confirms what was inferred only with the recorded id', () => {
    const same = readServiceWord(id, { id, status: 'syncing', ...raw() });
    expect(confirmIdentity(inferred, same, 'a')).toBe(inferred);
    const other = readServiceWord(id, { id: 'another', status: 'syncing', ...raw() });
    expect(confirmIdentity(inferred, other, 'a')).toMatchObject({ grade: 'assumed', candidates: ['a'] });
    expect(confirmIdentity(inferred, silentService, 'a')).toMatchObject({ grade: 'assumed' });
    expect(confirmIdentity(inferred, readServiceWord(id, 'none', same), 'a')).toMatchObject({ grade: 'assumed' });
    expect(confirmIdentity(inferred, readServiceWord(id, { id, status: 'error', ...raw() }), 'a')).toMatchObject({
      grade: 'assumed',
    });
  });

  it('that is missing in one poll leaves the word before', () => {
    const same = readServiceWord(id, { id, status: 'syncing', ...raw() });
    expect(readServiceWord(id, undefined, same)).toBe(same);
  });

  it.each(['error', 'link_down', 'stopped', 'source_unreachable'])('names a database whose phase is %s', (phase) => {
    const databases = [{ name: 'shop', phase, reason: 'gone' }];
    expect(readServiceWord(id, { id, status: 'syncing', ...raw({ databases }) }).broken).toContain('shop: gone');
  });
});

it('the least certain of several identities counts, and is shown with its grade', () => {
  const [proven, assumed] = [
    { grade: 'proven', by: '--slot' },
    { grade: 'assumed', by: 'a guess' },
  ] as const;
  expect(weakestIdentity([proven, undefined, assumed])).toBe(assumed);
  expect(weakestIdentity([undefined])).toBeUndefined();
  expect(formatIdentity(proven)).toBe('identified by --slot (proven)');
});
