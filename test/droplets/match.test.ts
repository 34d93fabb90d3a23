import { describe, expect, it } from 'vitest';
import { type Droplet, decodeDroplet, hasTag } from '../../src/api/droplets.ts';
import type { Batch } from '../../src/droplets/events.ts';
import { deriveBatch, encodeId, exclusiveTag, originOf, sharedTag, tagsOf } from '../../src/droplets/match.ts';
import { describeBatch, readLedgerSelection } from '../../src/droplets/options.ts';
import { createState } from '../../src/droplets/state.ts';
import { argsFrom } from '../fixtures/command-io.ts';
import { testHost } from '../fixtures/host.ts';
import { batchOf } from './batch-fixtures.ts';

describe('candidate droplets', () => {
  const since = Date.parse('2026-01-01T12:00:00Z');

  const attributes = { size: 's-1', image: 'debian', region: 'nyc3', extra: {} };
  const at = '2026-01-01T11:00:00.000Z';

  /** What a droplet is to a request of this batch: droplets 1 and 2 had its name before, droplet 3 belongs to another row. */
  function judged(changes: object, batch: Partial<Batch> = {}, sentAfter: number | 'unknown' = since) {
    const state = createState(batchOf(['a', 'c'], { id: 'b', attributes, ...batch }));
    state.apply({ event: 'baseline', at, existing: { a: ['1', '2'] } });
    state.apply({ event: 'created', at, group: 1, rows: [{ name: 'c', id: '3' }] });
    return originOf(droplet(changes), state, sentAfter === 'unknown' ? undefined : sentAfter);
  }

  /** As the service shows one that this batch made. */
  function droplet(changes: object = {}): Droplet {
    const whole = {
      id: '10',
      name: 'a',
      created_at: '2026-01-01T12:00:01Z',
      region: { slug: 'nyc3' },
      size_slug: 's-1',
      image: { id: '77', slug: 'debian' },
      tags: [],
      ...changes,
    };
    const decoded = decodeDroplet(whole);
    if (decoded === undefined) throw new Error('not a droplet');
    return decoded;
  }

  function isCandidate(changes: object, batch: Partial<Batch> = {}): boolean {
    return judged(changes, batch).kind === 'ours';
  }

  describe('a droplet may be ours', () => {
    it.each([
      ['when all agrees', {}],
      ['when it was created five seconds before the last date the server told', { created_at: '2026-01-01T11:59:55Z' }],
      ['when its size stands in an object only', { size_slug: undefined, size: { slug: 's-1' } }],
      [
        'when the server leaves out what it was made of',
        { region: null, image: { id: '77', slug: null }, size_slug: null },
      ],
      ['when the server does not say when it was created', { created_at: undefined }],
    ])('%s', (_when, changes) => {
      expect(isCandidate(changes)).toBe(true);
    });

    it('when its image was sent as a number and is that one', () => {
      const attributes = { size: 's-1', image: 77, region: 'nyc3', extra: {} };
      expect(isCandidate({}, { attributes })).toBe(true);
      expect(isCandidate({ image: { id: '78', slug: 'debian' } }, { attributes })).toBe(false);
    });

    it('in whatever region when none was sent', () => {
      const attributes = { size: 's-1', image: 'debian', extra: {} };
      expect(isCandidate({ region: { slug: 'ams3' } }, { attributes })).toBe(true);
    });

    it('at whatever time when the server never told its own', () => {
      expect(judged({ created_at: '1999-01-01T00:00:00Z' }, {}, 'unknown').kind).toBe('ours');
    });
  });

  describe('a droplet is not ours', () => {
    it.each([
      ['when it was there before', { id: '2' }],
      ['when it belongs to another row', { id: '3' }],
      ['when it is older', { created_at: '2026-01-01T11:59:54Z' }],
      ['when it is in another region', { region: { slug: 'ams3' } }],
      ['when it has another size', { size_slug: 's-2' }],
      ['when it has another image', { image: { id: '77', slug: 'ubuntu' } }],
    ])('%s', (_when, changes) => {
      expect(isCandidate(changes)).toBe(false);
    });
  });

  describe('a droplet that would be ours, were it not older than the request', () => {
    const old = { created_at: '2026-01-01T11:59:54Z' };
    const isOlder = (changes: object, batch: Partial<Batch> = {}) => judged(changes, batch).kind === 'older';

    it('is told apart, for the clocks of a server may differ', () => {
      expect(isOlder(old)).toBe(true);
      expect(isOlder({})).toBe(false);
    });

    it('is none that was there before, differs otherwise, or is to have a tag', () => {
      expect(isOlder({ ...old, id: '2' })).toBe(false);
      expect(isOlder({ ...old, size_slug: 's-2' })).toBe(false);
      expect(isOlder({ ...old, tags: ['cloudctl:b:c0ffee000000'] }, { content_hash: 'c0ffee000000' })).toBe(false);
    });
  });

  describe('with --batch-id', () => {
    it('the tag alone is the evidence', () => {
      const strange = {
        id: '2',
        created_at: '1999-01-01T00:00:00Z',
        size_slug: 'x',
        tags: ['web', 'cloudctl:b:c0ffee000000'],
      };
      expect(isCandidate(strange, { content_hash: 'c0ffee000000' })).toBe(true);
      expect(isCandidate({}, { content_hash: 'c0ffee000000' })).toBe(false);
      expect(isCandidate({ tags: ['cloudctl:b2:c0ffee000000'] }, { content_hash: 'c0ffee000000' })).toBe(false);
      expect(isCandidate({ tags: 'cloudctl:b:c0ffee000000' }, { content_hash: 'c0ffee000000' })).toBe(false);
    });

    it('a droplet of another row stays there', () => {
      expect(isCandidate({ id: '3', tags: ['cloudctl:b:c0ffee000000'] }, { content_hash: 'c0ffee000000' })).toBe(false);
    });
  });

  describe('a droplet that appeared since the request with other attributes', () => {
    it.each([
      [{ region: { slug: 'nyc2' } }, 'region nyc2 instead of nyc3'],
      [
        { size_slug: 's-2', image: { id: '77', slug: 'ubuntu' } },
        'size s-2 instead of s-1, image ubuntu instead of debian',
      ],
    ])('is named with its difference: %j', (changes, difference) => {
      expect(judged(changes)).toEqual({ kind: 'different', difference });
    });

    it.each([
      ['agrees', {}],
      ['was there before', { id: '2', size_slug: 's-2' }],
      ['belongs to another row', { id: '3', size_slug: 's-2' }],
      ['is older', { created_at: '2026-01-01T11:59:00Z', size_slug: 's-2' }],
      ['belongs to another batch', { tags: ['cloudctl:x:0123456789ab'], size_slug: 's-2' }],
    ])('is not one that %s', (_what, changes) => {
      expect(judged(changes).kind).not.toBe('different');
    });

    it('is none with --batch-id, where the tag decides', () => {
      expect(judged({ size_slug: 's-2' }, { content_hash: 'c0ffee000000' }).kind).not.toBe('different');
    });

    it.each(['cloudctl:x:0123456789ab', 'cloudctl:x', 'CloudCtl:X:0123456789AB'])(
      'belongs to another batch by its tag %s',
      (tag) => {
        expect(judged({ size_slug: 's-2', tags: [tag] }).kind).toBe('unrelated');
      },
    );

    it.each(['cloudctl', 'cloudctl-x', 'cloudctl:', 'web', 'my-cloudctl:x'])('does not by the tag %s', (tag) => {
      expect(judged({ size_slug: 's-2', tags: [tag] }).kind).toBe('different');
    });
  });
});

describe('batch id', () => {
  const attributes = { size: 's', image: 'i', extra: { tags: ['web'], ipv6: true, vpc: { b: 1, a: [2, 1] } } };

  describe('--batch-id', () => {
    it('is kept in lower case', async () => {
      const args = argsFrom({ size: ['s'], image: ['i'], 'batch-id': ['Nightly_2026-11'] }, ['a']);
      const settings = { profileName: 'default', values: {} };
      expect(await describeBatch(testHost(), args, settings, undefined)).toMatchObject({ id: 'nightly_2026-11' });
    });

    it.each(['', ' ', 'a b', 'ä', 'a\n', 'x'.repeat(65), '\u202ea'])('refuses %j', (id) => {
      expect(() => readLedgerSelection(argsFrom({ 'batch-id': [id] }))).toThrow(
        expect.objectContaining({ code: 'usage' }),
      );
    });
  });

  describe('the tags of a batch with --batch-id', () => {
    const shared = deriveBatch('x', ['a', 'b'], attributes);

    it('are added to those of the user, and are valid tags of the public service', () => {
      expect(shared?.attributes.extra.tags).toEqual(['web', 'cloudctl:x', `cloudctl:x:${shared?.content_hash}`]);
    });

    it('are equal for the same names and attributes in another order', () => {
      const extra = { vpc: { a: [2, 1], b: 1 }, ipv6: true, tags: ['web'] };
      const again = deriveBatch('x', ['b', 'a'], { extra, image: 'i', size: 's' });
      expect(again?.content_hash).toBe(shared?.content_hash);
      expect(shared?.content_hash).toMatch(/^[0-9a-f]{12}$/);
    });

    it.each([
      ['names', ['a', 'c'], attributes],
      ['fewer names', ['a'], attributes],
      ['names that are joined', ['a,b'], attributes],
      ['another size', ['a', 'b'], { ...attributes, size: 't' }],
      ['a region', ['a', 'b'], { ...attributes, region: 'r' }],
      ['an image id instead of a slug', ['a', 'b'], { ...attributes, image: 1 }],
      [
        'a list in another order',
        ['a', 'b'],
        { ...attributes, extra: { ...attributes.extra, vpc: { b: 1, a: [1, 2] } } },
      ],
    ])('differ for other %s', (_, names, other) => {
      expect(deriveBatch('x', names, other)?.content_hash).not.toBe(shared?.content_hash);
    });

    it('have no place beside tags that are not a list of strings', () => {
      expect(deriveBatch('x', ['a'], { ...attributes, extra: { tags: 'web' } })).toBeUndefined();
    });
  });

  it.each(['v1.2.3', 'release/42', 'feature/foo_bar#1', 'a'.repeat(64), '/'.repeat(64)])(
    'the id %s gives tags that the public service accepts',
    (id) => {
      const [, shared, own] = [deriveBatch(id, ['a'], attributes)?.attributes.extra.tags].flat();
      for (const tag of [shared, own]) expect(tag).toMatch(/^[a-z0-9:_-]{1,255}$/);
      expect(encodeId(id)).toMatch(/^[a-z0-9_-]+$/);
    },
  );

  it('different ids have different tags', () => {
    const ids = ['a.b', 'a_2eb', 'a/b', 'a-b', 'a_b', 'ab'];
    expect(new Set(ids.map(encodeId)).size).toBe(ids.length);
  });

  it('the tag that proves a droplet, and the tag that lists the droplets', () => {
    const shared = batchOf(['a'], { id: 'x', content_hash: '0123456789ab' });
    expect([exclusiveTag(shared), sharedTag(shared)]).toEqual(['cloudctl:x:0123456789ab', 'cloudctl:x']);
    expect(exclusiveTag(batchOf(['a']))).toBeUndefined();
  });
});

describe('droplet tags', () => {
  it.each([
    [['web'], 'web', true],
    [['Web'], 'wEB', true],
    [['web-1'], 'web', false],
    [[7], '7', true],
    ['web', 'web', false],
    [undefined, 'web', false],
  ])('a droplet with the tags %j and the tag %s: %s', (tags, wanted, result) => {
    expect(hasTag({ raw: { id: '1', name: 'a', tags } }, wanted)).toBe(result);
  });

  it('tags are in lower case, and are only those that are strings', () => {
    expect(tagsOf({ tags: ['Web', 7, null, 'X'] })).toEqual(['web', 'x']);
    expect(tagsOf({ tags: 'web' })).toEqual([]);
  });
});
