import { describe, expect, it } from 'vitest';
import { fetchPage, nextPath } from '../../src/api/page.ts';
import { apiOf, origin } from './shelf.ts';

describe('one page', () => {
  it('has the texts of its items, its total, the way to the next and the time of the server', async () => {
    const body = { things: [{ id: 1 }], links: { pages: { next: '/v2/things?page=2' } }, meta: { total: 3 } };
    const api = apiOf(
      () => body,
      () => 5_000,
    );
    expect(await fetchPage(api, 'things', '/v2/things')).toEqual({
      texts: ['{"id":1}'],
      total: 3,
      next: '/v2/things?page=2',
      date: 5_000,
    });
  });

  it.each([[[1, 'a', null, [{}]]], [[{ id: 1 }, 2]]])(
    'whose items are not all objects, as %j, has them all',
    async (things) => {
      const { texts } = await fetchPage(
        apiOf(() => ({ things })),
        'things',
        '/v2/things',
      );
      expect(texts).toHaveLength(things.length);
    },
  );
});

describe('the link to the next page', () => {
  it.each([
    [{ pages: { next: `${origin}/v2/things?page=2` } }, '/v2/things?page=2'],
    [{ pages: { next: '/v2/things?page=2' } }, '/v2/things?page=2'],
    [{ pages: { next: '?page=2' } }, '/?page=2'],
    [{ pages: { next: '' } }, undefined],
    [{ pages: { last: `${origin}/x` } }, undefined],
    [{ pages: [] }, undefined],
    [{}, undefined],
    [null, undefined],
    ['text', undefined],
  ])('of %j is %j', (links, path) => {
    expect(nextPath(origin, links)).toBe(path);
  });

  it.each([
    'https://evil.example/v2/things?page=2',
    'http://api.example/v2/things?page=2',
    'https://api.example:8443/v2/things?page=2',
    '//evil.example/v2',
    'https://api.example.evil.example/',
    'data:text/plain,x',
    'http://',
  ])('%s leaves the base origin and is not followed', (next) => {
    expect(() => nextPath(origin, { pages: { next } })).toThrow(/leaves the base origin/);
  });
});
