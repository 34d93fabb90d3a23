import { describe, expect, it } from 'vitest';
import { fetchPage, nextPath } from '../../src/api/page.ts';
import { createSplitter } from '../../src/api/split-list.ts';
import { apiOf, origin } from './shelf.ts';

const splitter = createSplitter('things', ['id']);
const pageOf = (body: unknown, date?: () => number) =>
  fetchPage(
    apiOf(() => body, date),
    'things',
    '/v2/things',
    splitter,
  );

describe('one page', () => {
  it('has its items, its total, the way to the next and the time of the server', async () => {
    const things = [{ id: 1, name: 'a' }, { name: 'b' }];
    const body = { things, links: { pages: { next: '/v2/things?page=2' } }, meta: { total: 3 } };
    const page = await pageOf(body, () => 5_000);
    expect(page).toMatchObject({ skims: [{ id: 1 }, {}], total: 3, next: '/v2/things?page=2', date: 5_000 });
    expect([page.item(0), page.item(1)]).toEqual(things);
  });

  it.each([
    [[0, 1, 2], '{"id":1}\n{"id":2,"name":"é"}\n{"id":3}\n'],
    [[0, 2], '{"id":1}\n{"id":3}\n'],
    [[1], '{"id":2,"name":"é"}\n'],
    [[], ''],
  ])('gives the items %j a line each, as often as it is asked', async (places, lines) => {
    const page = await pageOf({ things: [{ id: 1 }, { id: 2, name: 'é' }, { id: 3 }] });
    for (const _ of '12') expect(Buffer.from(page.lines(places)).toString()).toBe(lines);
    expect(page.item(1)).toEqual({ id: 2, name: 'é' });
  });

  it.each([[[1, 'a', null, [{}]]], [[{ id: 1 }, 2]]])(
    'whose items are not all objects, as %j, has them all',
    async (things) => {
      const page = await pageOf({ things });
      expect(page.skims).toEqual(things);
      expect(things.map((_, at) => page.item(at))).toEqual(things);
      expect(Buffer.from(page.lines(things.map((_, at) => at))).toString()).toBe(
        things.map((thing) => `${JSON.stringify(thing)}\n`).join(''),
      );
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
