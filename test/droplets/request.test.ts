import { describe, expect, it } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import type { Attributes } from '../../src/droplets/events.ts';
import { deriveBatch } from '../../src/droplets/match.ts';
import { expandNames } from '../../src/droplets/names.ts';
import { buildRequests, describeLimit, LimitError } from '../../src/droplets/request.ts';

describe('droplet creation requests', () => {
  const attributes: Attributes = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3', extra: {} };

  describe('the requests of a batch', () => {
    it('hold ten names each, and a single one as name', () => {
      const requests = buildRequests(expandNames(['n{1..21}']), attributes, 10);
      expect(requests.map(({ names }) => names.length)).toEqual([10, 10, 1]);
      expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ names: expandNames(['n{1..10}']) });
      expect(JSON.parse(requests[2]?.body ?? '')).toEqual({
        name: 'n21',
        region: 'nyc3',
        size: 's-1vcpu-1gb',
        image: 'ubuntu-24-04-x64',
      });
      expect(requests[0]?.body).not.toContain('"name"');
    });

    it('leave the region out when there is none, and carry further attributes', () => {
      const [request] = buildRequests(['a'], { size: 's', image: 7, extra: { tags: ['x'] } }, 10);
      expect(JSON.parse(request?.body ?? '')).toEqual({ name: 'a', size: 's', image: 7, tags: ['x'] });
    });
  });

  describe('the tags of --batch-id', () => {
    it.each([
      [{}, { tags: [expect.any(String), expect.any(String)] }],
      [
        { tags: ['web'], ipv6: true },
        { tags: ['web', expect.any(String), expect.any(String)], ipv6: true },
      ],
      [{ tags: [] }, { tags: [expect.any(String), expect.any(String)] }],
    ])('joins %j', (extra, joined) => {
      expect(deriveBatch('m', ['a'], { ...attributes, extra })?.attributes.extra).toEqual(joined);
    });

    it.each([[{ tags: 'web' }], [{ tags: [1] }], [{ tags: null }]])('cannot join %j', (extra) => {
      expect(deriveBatch('m', ['a'], { ...attributes, extra })).toBeUndefined();
    });
  });
});

describe('droplet limit', () => {
  const until = new AbortController().signal;
  const refused = new LimitError(new CliError('api_error', 'refused', { status: 422, detail: 'limit' }));

  function apiWith(account: unknown, page: unknown) {
    return {
      json: async ({ path }: { readonly path: string }) => {
        const json = path.startsWith('/v2/account') ? account : page;
        if (json instanceof Error) throw json;
        return json;
      },
    };
  }

  const accountOf = (limit: unknown) => ({ account: { droplet_limit: limit } });
  const pageOf = (total: unknown) => ({ droplets: [], meta: { total } });

  async function hintFor(account: unknown, page: unknown): Promise<string | undefined> {
    const error = await describeLimit(refused, apiWith(account, page), until);
    expect(error).toMatchObject({ code: 'api_error', message: 'refused', status: 422, detail: 'limit' });
    return error.hint;
  }

  describe('the hint of a droplet limit', () => {
    it('has the number that fits', async () => {
      expect(await hintFor(accountOf(25), pageOf(22))).toMatch(/\b3\b/);
      expect(await hintFor(accountOf(25), pageOf(22))).not.toBe(refused.hint);
    });

    it.each([
      ['a full account', accountOf(5), pageOf(5)],
      ['more droplets than the limit', accountOf(5), pageOf(7)],
    ])('has no number of droplets to create for %s', async (_, account, page) => {
      expect(await hintFor(account, page)).not.toMatch(/\b0 |-2/);
    });

    it.each([
      ['no account', new CliError('not_found', 'none'), pageOf(1)],
      ['no limit', accountOf(null), pageOf(1)],
      ['a negative limit', accountOf(-1), pageOf(1)],
      ['no total', accountOf(5), { droplets: [] }],
      ['no list', accountOf(5), new CliError('unreachable', 'gone')],
    ])('has no number with %s', async (_, account, page) => {
      expect(await hintFor(account, page)).toBe(refused.hint);
    });
  });
});
