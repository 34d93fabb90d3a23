import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonListSplitter } from '../../src/api/json-list-splitter.ts';
import { nextPagePath, parseListPage, readListTotal, readNextPagePathFromTail } from '../../src/api/list-page.ts';
import { createBufferedResponseBody } from '../../src/platform/buffered-response-body.ts';
import { origin } from './changing-list.ts';
import { testResponse } from './test-response.ts';

const splitter = createJsonListSplitter('things', ['id']);
const pageOf = (body: unknown, date?: number) =>
  parseListPage(origin, { key: 'things', path: '/v2/things?page=1' }, testResponse(200, body, { date }), splitter);

describe('one page', () => {
  it('has its items, its total, the way to the next and the time of the server', () => {
    const things = [{ id: 1, name: 'a' }, { name: 'b' }];
    const body = { things, links: { pages: { next: '/v2/things?page=2' } }, meta: { total: 3 } };
    const page = pageOf(body, 5_000);
    expect(page).toMatchObject({ partialItems: [{ id: 1 }, {}], total: 3, next: '/v2/things?page=2', date: 5_000 });
    expect([page.item(0), page.item(1)]).toEqual(things);
  });

  it.each([
    [[0, 1, 2], '{"id":1}\n{"id":2,"name":"é"}\n{"id":3}\n'],
    [[0, 2], '{"id":1}\n{"id":3}\n'],
    [[1], '{"id":2,"name":"é"}\n'],
    [[], ''],
  ])('gives the items %j a line each, as often as it is asked', (places, lines) => {
    const page = pageOf({ things: [{ id: 1 }, { id: 2, name: 'é' }, { id: 3 }] });
    for (const _ of '12') expect(Buffer.from(page.lines(places)).toString()).toBe(lines);
    expect(page.item(1)).toEqual({ id: 2, name: 'é' });
  });

  it.each([[[1, 'a', null, [{}]]], [[{ id: 1 }, 2]]])(
    'whose items are not all objects, as %j, has them all',
    (things) => {
      const page = pageOf({ things });
      expect(page.partialItems).toEqual(things);
      expect(things.map((_, at) => page.item(at))).toEqual(things);
      expect(Buffer.from(page.lines(things.map((_, at) => at))).toString()).toBe(
        things.map((thing) => `${JSON.stringify(thing)}\n`).join(''),
      );
    },
  );
});

it.each([
  [{ total: 3 }, 3],
  [{ total: '450' }, 450],
  [{ total: 'many' }, undefined],
  [{ total: '' }, undefined],
  [{}, undefined],
  [null, undefined],
])('the total of %j is %j', (meta, total) => {
  expect(readListTotal({ meta })).toBe(total);
});

describe('the link to the next page', () => {
  it.each([
    [{ pages: { next: `${origin}/v2/things?page=2` } }, '/v2/things?page=2'],
    [{ pages: { next: '/v2/things?page=2' } }, '/v2/things?page=2'],
    [{ pages: { next: '?page=2' } }, '/v2/things?page=2'],
    [{ pages: { next: 'things?page=2' } }, '/v2/things?page=2'],
    [{ pages: { next: '' } }, undefined],
    [{ pages: { next: null } }, undefined],
    [{ pages: { next: false } }, undefined],
    [{ pages: { last: `${origin}/x` } }, undefined],
    [{ pages: [] }, undefined],
    [{}, undefined],
    [null, undefined],
    ['text', undefined],
  ])('of %j is %j', (links, path) => {
    expect(nextPagePath(origin, links, '/v2/things?page=1')).toBe(path);
  });

  it.each([
    'https://evil.example/v2/things?page=2',
    'http://api.example/v2/things?page=2',
    'https://api.example:8443/v2/things?page=2',
    '//evil.example/v2',
    'https://api.example.evil.example/',
    'data:text/plain,x',
  ])('%s leaves the base origin and is not followed', (next) => {
    expect(() => nextPagePath(origin, { pages: { next } }, '/v2/things?page=1')).toThrow(
      expect.objectContaining({ code: 'api_error' }),
    );
  });

  it.each([
    ['http://', '"http://"'],
    [2, 'not a string, but 2'],
    [{ href: '/v2/things?page=2' }, 'not a string, but {"href":"/v2/things?page=2"}'],
    [true, 'not a string, but true'],
  ])('%j is not understood, which is no end of the list', (next, told) => {
    const read = () => nextPagePath(origin, { pages: { next } }, '/v2/things?page=1');
    expect(read).toThrow(
      expect.objectContaining({ message: expect.stringContaining('not a URL'), detail: `links.pages.next is ${told}` }),
    );
  });
});

describe('the next page, told from the end of this one', () => {
  const endOf = (text: string) =>
    readNextPagePathFromTail(origin, createBufferedResponseBody([Buffer.from(text)]), '/v2/things?page=1');
  const links = '{"pages":{"next":"https://api.example/v2/things?page=2"}}';

  it.each([
    [`{"things":[],"links":${links},"meta":{"total":3}}`],
    [`{"things":[{"links":{}}],"links":${links}}`],
    [`{"links":{},"things":[],"links":${links}}\n`],
  ])('%s is found', (text) => {
    expect(endOf(text)).toBe('/v2/things?page=2');
    // Wherever the pieces are cut that it came in.
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at++)
      expect(
        readNextPagePathFromTail(origin, createBufferedResponseBody([bytes.subarray(0, at), bytes.subarray(at)]), '/'),
      ).toBe('/v2/things?page=2');
  });

  it.each([
    ['no links', '{"things":[]}'],
    ['the last page', '{"things":[],"links":{},"meta":{"total":3}}'],
    ['an item with links', `{"links":{},"things":[{"links":${links}}]}`],
    ['links in the text of an item', `{"things":["\\"links\\":${links.replaceAll('"', '\\"')}"]}`],
    ['half an answer', `{"things":[],"links":${links}`],
    ['links before a long list', `{"links":${links},"things":[${'0,'.repeat(5_000)}0]}`],
    ['nothing', ''],
  ])('is not told of %s', (_what, text) => {
    expect(endOf(text)).toBeUndefined();
  });

  it('is what the whole page says, whatever stands in it, or is not told', () => {
    const member = fc.constantFrom('things', 'links', 'meta', '"links":', 'pages', 'next');
    const value = fc.jsonValue().map((json) => json);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(member, fc.oneof(value, fc.constant(JSON.parse(links)))), { maxLength: 6 }),
        (members) => {
          const text = `{${members.map(([name, json]) => `${JSON.stringify(name)}:${JSON.stringify(json)}`).join(',')}}`;
          const told = endOf(text);
          if (told !== undefined) expect(told).toBe(nextPagePath(origin, JSON.parse(text).links, '/v2/things?page=1'));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
