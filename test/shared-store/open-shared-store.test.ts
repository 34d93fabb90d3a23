import { expect, it } from 'vitest';
import { DatabaseConnectError } from '../../src/platform/connect-error.ts';
import { openSharedStore } from '../../src/shared-store/open-shared-store.ts';
import { parseSharedStoreUrl } from '../../src/shared-store/store-url.ts';

it.each([
  ['postgres://ci:pw@127.0.0.1:1/fleet', 'PostgreSQL 127.0.0.1:1/fleet'],
  ['redis://:pw@127.0.0.1:1/2', 'Redis 127.0.0.1:1/2'],
])('%s is opened with its engine, and connects with the first operation', async (url, location) => {
  const address = parseSharedStoreUrl(url, () => undefined);
  const store = await openSharedStore(address, { share: '0123456789abcdef', profile: 'default' });
  expect(store.location).toBe(location);
  await expect(store.run({ op: 'read' })).rejects.toBeInstanceOf(DatabaseConnectError);
  await store.close();
});
