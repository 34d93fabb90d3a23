import type { SharedSessionEntryKey, SharedSessionStore } from './shared-session.ts';
import type { SharedStoreAddress } from './store-url.ts';

export interface OpenSharedStoreOptions {
  /** Called after a commit that the server has not confirmed to be on its disk, or on a replica. */
  readonly onUnconfirmed?: ((missing: string) => void) | undefined;
}

/** The shared store at an address; it connects with its first operation. Only the package of its engine is loaded. */
export async function openSharedStore(
  address: SharedStoreAddress,
  key: SharedSessionEntryKey,
  options: OpenSharedStoreOptions = {},
): Promise<SharedSessionStore> {
  if (address.engine === 'postgresql') {
    const { createPostgresqlSharedStore } = await import('./postgresql-shared-store.ts');
    return createPostgresqlSharedStore(address.source, key);
  }
  const { createRedisSharedStore } = await import('./redis-shared-store.ts');
  return createRedisSharedStore(address.source, key, options);
}
