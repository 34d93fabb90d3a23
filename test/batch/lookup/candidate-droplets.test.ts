import { describe, expect, it } from 'vitest';
import { type Droplet, decodeDroplet } from '../../../src/api/droplets.ts';
import {
  type CandidateDropletCriteria,
  findCandidateDroplets,
  findDropletsOlderThanRequest,
  findDropletsWithOtherAttributes,
} from '../../../src/batch/lookup/candidate-droplets.ts';

const since = Date.parse('2026-01-01T12:00:00Z');

const wanted: CandidateDropletCriteria = {
  attributes: { size: 's-1', image: 'debian', region: 'nyc3', extra: {} },
  mark: undefined,
  sentAfter: since,
  existing: (name) => (name === 'a' ? [1, 2] : []),
  belongsToBatch: (id) => id === 3,
};

/** As the service shows one that this batch made. */
function droplet(changes: object = {}): Droplet {
  const whole = {
    id: 10,
    name: 'a',
    created_at: '2026-01-01T12:00:01Z',
    region: { slug: 'nyc3' },
    size_slug: 's-1',
    image: { id: 77, slug: 'debian' },
    tags: [],
    ...changes,
  };
  const decoded = decodeDroplet(whole);
  if (decoded === undefined) throw new Error('not a droplet');
  return decoded;
}

function isCandidate(changes: object, more: Partial<CandidateDropletCriteria> = {}): boolean {
  return findCandidateDroplets('a', [droplet(changes)], { ...wanted, ...more }).length === 1;
}

describe('a droplet may be ours', () => {
  it.each([
    ['when all agrees', {}],
    ['when it was created five seconds before the last date the server told', { created_at: '2026-01-01T11:59:55Z' }],
    ['when its size stands in an object only', { size_slug: undefined, size: { slug: 's-1' } }],
    [
      'when the server leaves out what it was made of',
      { region: null, image: { id: 77, slug: null }, size_slug: null },
    ],
    ['when the server does not say when it was created', { created_at: undefined }],
  ])('%s', (_when, changes) => {
    expect(isCandidate(changes)).toBe(true);
  });

  it('when its image was sent as a number and is that one', () => {
    const attributes = { ...wanted.attributes, image: 77 };
    expect(isCandidate({}, { attributes })).toBe(true);
    expect(isCandidate({ image: { id: 78, slug: 'debian' } }, { attributes })).toBe(false);
  });

  it('in whatever region when none was sent', () => {
    const attributes = { size: 's-1', image: 'debian', extra: {} };
    expect(isCandidate({ region: { slug: 'ams3' } }, { attributes })).toBe(true);
  });

  it('at whatever time when the server never told its own', () => {
    expect(isCandidate({ created_at: '1999-01-01T00:00:00Z' }, { sentAfter: undefined })).toBe(true);
  });
});

describe('a droplet is not ours', () => {
  it.each([
    ['when it has another name', { name: 'b' }],
    ['when it was there before', { id: 2 }],
    ['when it belongs to another row', { id: 3 }],
    ['when it is older', { created_at: '2026-01-01T11:59:54Z' }],
    ['when it is in another region', { region: { slug: 'ams3' } }],
    ['when it has another size', { size_slug: 's-2' }],
    ['when it has another image', { image: { id: 77, slug: 'ubuntu' } }],
  ])('%s', (_when, changes) => {
    expect(isCandidate(changes)).toBe(false);
  });
});

describe('a droplet that would be ours, were it not older than the request', () => {
  const old = { created_at: '2026-01-01T11:59:54Z' };
  const ids = (changes: object, more: Partial<CandidateDropletCriteria> = {}) =>
    findDropletsOlderThanRequest('a', [droplet(changes)], { ...wanted, ...more });

  it('is told apart, for the clocks of a server may differ', () => {
    expect(ids(old)).toHaveLength(1);
    expect(ids({})).toEqual([]);
  });

  it('is none that was there before, differs otherwise, or is to bear a mark', () => {
    expect(ids({ ...old, id: 2 })).toEqual([]);
    expect(ids({ ...old, size_slug: 's-2' })).toEqual([]);
    expect(ids({ ...old, tags: ['cloudctl-b'] }, { mark: 'cloudctl-b' })).toEqual([]);
  });
});

describe('with a mark', () => {
  it('the tag alone is the evidence', () => {
    const strange = { id: 2, created_at: '1999-01-01T00:00:00Z', size_slug: 'x', tags: ['web', 'cloudctl-b'] };
    expect(isCandidate(strange, { mark: 'cloudctl-b' })).toBe(true);
    expect(isCandidate({}, { mark: 'cloudctl-b' })).toBe(false);
    expect(isCandidate({ tags: ['cloudctl-b2'] }, { mark: 'cloudctl-b' })).toBe(false);
    expect(isCandidate({ tags: 'cloudctl-b' }, { mark: 'cloudctl-b' })).toBe(false);
  });

  it('a droplet of another row stays there', () => {
    expect(isCandidate({ id: 3, tags: ['cloudctl-b'] }, { mark: 'cloudctl-b' })).toBe(false);
  });
});

describe('a droplet that appeared since the request with other attributes', () => {
  const found = (changes: object, more: Partial<CandidateDropletCriteria> = {}) =>
    findDropletsWithOtherAttributes('a', [droplet(changes)], { ...wanted, ...more });

  it.each([
    [{ region: { slug: 'nyc2' } }, 'region nyc2 instead of nyc3'],
    [
      { size_slug: 's-2', image: { id: 77, slug: 'ubuntu' } },
      'size s-2 instead of s-1, image ubuntu instead of debian',
    ],
  ])('is named with its difference: %j', (changes, difference) => {
    expect(found(changes)).toEqual([{ id: 10, difference }]);
  });

  it.each([
    ['agrees', {}],
    ['was there before', { id: 2, size_slug: 's-2' }],
    ['belongs to another row', { id: 3, size_slug: 's-2' }],
    ['is older', { created_at: '2026-01-01T11:59:00Z', size_slug: 's-2' }],
    ['belongs to another batch', { tags: ['cloudctl-0123456789ab'], size_slug: 's-2' }],
  ])('is not one that %s', (_what, changes) => {
    expect(found(changes)).toEqual([]);
  });

  it('is none with --mark, where the tag decides', () => {
    expect(found({ size_slug: 's-2' }, { mark: 'cloudctl-x' })).toEqual([]);
  });
});
