import { expect, it } from 'vitest';
import { type Action, listActions } from '../../src/api/actions.ts';
import type { Api } from '../../src/api/client.ts';

function apiOf(actions: readonly unknown[]): Api {
  return {
    baseOrigin: 'https://api.example',
    request: () => Promise.reject(new Error('not used')),
    json: async () => ({ actions, meta: { total: actions.length } }),
  };
}

async function all(actions: AsyncIterable<Action>): Promise<readonly Action[]> {
  const list: Action[] = [];
  for await (const action of actions) list.push(action);
  return list;
}

it('an action keeps what the API sent', async () => {
  const json = { id: 1, status: 'in-progress', type: 'create', completed_at: null };
  expect(await all(listActions(apiOf([json]), 200))).toEqual([
    { id: 1, status: 'in-progress', type: 'create', raw: json },
  ]);
});

it.each([{ id: '1', status: 's', type: 't' }, { id: 1, type: 't' }, { id: 1, status: 's' }, null, 7])(
  '%j is no action, and the list is not understood',
  async (json) => {
    await expect(all(listActions(apiOf([json]), 200))).rejects.toMatchObject({ code: 'api_error' });
  },
);
