import type { AccessExclusiveCatalogLock } from './queries/catalog-locks.ts';

/** `Process 4711 holds an ACCESS EXCLUSIVE lock on pg_class for 32 s.`, with the statement that ends it. */
export function explainAccessExclusiveCatalogLocks(
  locks: readonly AccessExclusiveCatalogLock[],
): { readonly detail: string; readonly text: string } | undefined {
  const [first] = locks;
  if (first === undefined) return undefined;
  const { pid, catalog, seconds } = first;
  const since = seconds === undefined ? '' : `, in a transaction that is open for ${seconds} s`;
  const detail = `${pid === undefined ? 'A prepared transaction' : `Process ${pid}`} holds an ACCESS EXCLUSIVE lock on ${catalog}${since}. Every new session waits for this lock during the login.`;
  const text =
    pid === undefined
      ? 'End the transaction: SELECT gid FROM pg_prepared_xacts, then COMMIT PREPARED or ROLLBACK PREPARED.'
      : `Wait for its transaction, or end it from another database: SELECT pg_terminate_backend(${pid}).`;
  return { detail, text };
}
