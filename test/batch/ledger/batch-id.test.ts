import { describe, expect, it } from 'vitest';
import {
  batchLookupTag,
  countTagsAddedByBatch,
  deriveBatchFromId,
  getExclusiveBatchTag,
  isBatchTag,
  readBatchId,
} from '../../../src/batch/ledger/batch-id.ts';
import { argsFrom } from '../../fixtures/command-io.ts';
import { batchOf } from '../batch-fixtures.ts';

const attributes = { size: 's', image: 'i', extra: { tags: ['web'], ipv6: true, vpc: { b: 1, a: [2, 1] } } };

describe('--batch-id', () => {
  it('is kept in lower case', () => {
    expect(readBatchId(argsFrom({ 'batch-id': ['Nightly_2026-11'] }))).toBe('nightly_2026-11');
    expect(readBatchId(argsFrom({}))).toBeUndefined();
  });

  it.each(['', ' ', 'a b', 'a:b', 'ä', 'a\n', 'x'.repeat(41), 'a/b', '\u202ea'])('refuses %j', (id) => {
    expect(() => readBatchId(argsFrom({ 'batch-id': [id] }))).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('the tags of a batch with --batch-id', () => {
  const shared = deriveBatchFromId('x', ['a', 'b'], attributes);

  it('are added to those of the user, and are valid tags of the public service', () => {
    expect(shared).toMatchObject({ id: 'x', mark: true });
    expect(shared?.attributes.extra.tags).toEqual(['web', 'cloudctl:x', `cloudctl:x:${shared?.content_hash}`]);
    expect(`cloudctl:${'x'.repeat(40)}:${shared?.content_hash}`).toMatch(/^[A-Za-z0-9:_-]{1,255}$/);
    expect(shared && countTagsAddedByBatch(shared)).toBe(2);
  });

  it('are equal for the same names and attributes in another order', () => {
    const extra = { vpc: { a: [2, 1], b: 1 }, ipv6: true, tags: ['web'] };
    const again = deriveBatchFromId('x', ['b', 'a'], { extra, image: 'i', size: 's' });
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
    expect(deriveBatchFromId('x', names, other)?.content_hash).not.toBe(shared?.content_hash);
  });

  it('have no place beside tags that are not a list of strings', () => {
    expect(deriveBatchFromId('x', ['a'], { ...attributes, extra: { tags: 'web' } })).toBeUndefined();
  });
});

it('the tag that proves a droplet, and the tag that lists the droplets', () => {
  const shared = batchOf(['a'], { id: 'x', mark: true, content_hash: '0123456789ab' });
  expect([getExclusiveBatchTag(shared), batchLookupTag(shared)]).toEqual(['cloudctl:x:0123456789ab', 'cloudctl:x']);
  const marked = batchOf(['a'], { mark: true });
  expect([getExclusiveBatchTag(marked), batchLookupTag(marked)]).toEqual(['cloudctl-b1', 'cloudctl-b1']);
  expect(getExclusiveBatchTag(batchOf(['a']))).toBeUndefined();
});

it('tags of a batch are recognized without case', () => {
  expect(['cloudctl-0123456789ab', 'cloudctl:x', 'CloudCtl:X:0123456789AB'].map(isBatchTag)).toEqual([
    true,
    true,
    true,
  ]);
  expect(['cloudctl', 'cloudctl-x', 'cloudctl:', 'web', 'my-cloudctl:x'].some(isBatchTag)).toBe(false);
});
