import { describe, expect, it } from 'vitest';
import { addCreatableDropletCountToError, DropletLimitError } from '../../../src/batch/sending/droplet-limit.ts';
import { CliError } from '../../../src/errors.ts';

const until = new AbortController().signal;
const refused = new DropletLimitError(new CliError('api_error', 'refused', { status: 422, detail: 'limit' }));

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
  const error = await addCreatableDropletCountToError(refused, apiWith(account, page), until);
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
