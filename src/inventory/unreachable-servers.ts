/** Results of connections to servers that could not be reached, so that not every source waits for the same time limit. */
export interface UnreachableServers<T> {
  /** The result of the last attempt, if the server was tried often enough. */
  readonly find: (server: string) => T | undefined;
  /** Notes the result of an attempt; a successful one clears the earlier ones. */
  readonly add: (server: string, result: T, isUnreachable: boolean) => void;
}

/** @param maxAttempts unreachable so often, a server is not tried again */
export function createUnreachableServers<T>(maxAttempts = 2): UnreachableServers<T> {
  const failures = new Map<string, { readonly result: T; readonly attempts: number }>();
  return {
    find(server) {
      const failed = failures.get(server);
      return failed !== undefined && failed.attempts >= maxAttempts ? failed.result : undefined;
    },
    add(server, result, isUnreachable) {
      if (isUnreachable) failures.set(server, { result, attempts: (failures.get(server)?.attempts ?? 0) + 1 });
      else failures.delete(server);
    },
  };
}
