import type { RedisSharedStoreCallbacks } from './redis-shared-store.ts';
import type { SharedSessionEntryKey, SharedSessionStore } from './shared-session.ts';
import type { SharedStoreAddress } from './store-url.ts';

/** The shared store at an address; it connects with its first operation. Only the package of its engine is loaded. */
export async function openSharedStore(
  address: SharedStoreAddress,
  key: SharedSessionEntryKey,
  callbacks: RedisSharedStoreCallbacks = {},
): Promise<SharedSessionStore> {
  if (address.engine === 'postgresql') {
    const { createPostgresqlSharedStore } = await import('./postgresql-shared-store.ts');
    return createPostgresqlSharedStore(address.source, key);
  }
  const { createRedisSharedStore } = await import('./redis-shared-store.ts');
  return createRedisSharedStore(address.source, key, callbacks);
}
