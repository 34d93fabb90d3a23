export interface Limits {
  /** Maximum number of sources that are checked at the same time. */
  readonly parallel: number;
  /** Maximum number of sources of one server that are checked at the same time. */
  readonly perServer: number;
}

/** A slot of a server, which a source holds while it is checked; the number of slots of a server is limited. */
export interface Slot {
  /** Names the server that was found at the address; from then on all sources of this server share its slots. */
  identify(server: string): void;
  /** Waits for `work`; another source can use the slot until `work` ends. */
  pause<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Runs `work` for each source, within the limits. A source waits in the queue of its address; once a server is known by several
 * addresses, their sources count together. Sources of one address are started in their order.
 * @param addressOf host and port, as text
 */
export async function forEachSource<T>(
  sources: readonly T[],
  addressOf: (source: T) => string,
  { parallel, perServer }: Limits,
  work: (source: T, slot: Slot) => Promise<void>,
): Promise<void> {
  const queues = new Map<string, T[]>();
  for (const source of sources) {
    const queue = queues.get(addressOf(source));
    if (queue === undefined) queues.set(addressOf(source), [source]);
    else queue.push(source);
  }
  for (const queue of queues.values()) queue.reverse();
  const servers = new Map<string, string>();
  const serverOf = (address: string) => servers.get(address) ?? address;
  const active = new Map<string, number>();
  const change = (key: string, by: number) => active.set(key, (active.get(key) ?? 0) + by);
  let running = 0;
  let failure: { readonly error: unknown } | undefined;
  await new Promise<void>((resolve) => {
    let unfinished = 0;
    const startNext = (): void => {
      if (failure !== undefined) queues.clear();
      for (const [address, queue] of queues) {
        while (running < parallel && queue.length > 0 && (active.get(serverOf(address)) ?? 0) < perServer)
          start(address, queue.pop()!);
        if (queue.length === 0) queues.delete(address);
        if (running >= parallel) break;
      }
      if (unfinished === 0 && queues.size === 0) resolve();
    };
    const start = (address: string, source: T): void => {
      let key = serverOf(address);
      const occupy = (by: 1 | -1) => {
        running += by;
        change(key, by);
      };
      occupy(1);
      unfinished += 1;
      const slot: Slot = {
        identify(server) {
          servers.set(address, server);
          change(key, -1);
          key = server;
          change(key, 1);
        },
        async pause(waiting) {
          occupy(-1);
          startNext();
          try {
            return await waiting();
          } finally {
            // Another source may have taken the slot. The check continues anyway, so the limit is exceeded for a moment.
            occupy(1);
          }
        },
      };
      work(source, slot)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => {
          occupy(-1);
          unfinished -= 1;
          startNext();
        });
    };
    startNext();
  });
  if (failure !== undefined) throw failure.error;
}
