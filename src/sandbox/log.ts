/** One request as it may be shown: the query and every secret are left out. */
export interface LoggedRequest {
  /** ISO 8601, on the virtual clock. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly client_id?: string;
  readonly grant_type?: string;
  /** The last four characters of the token that was presented. */
  readonly token_hint?: string;
}

/** What a request is about, known before it is answered. */
export type Subject = Pick<LoggedRequest, 'client_id' | 'grant_type' | 'token_hint'>;

/** Keeps the latest requests and counts all of them; `endpoint` is `METHOD path`, with the path as sent or as the route writes it. */
export interface RequestLog {
  readonly add: (entry: LoggedRequest, endpoint: string) => void;
  readonly list: (endpoint: string | undefined) => readonly LoggedRequest[];
  readonly counts: () => Readonly<Record<string, number>>;
  readonly clear: () => void;
  /** Resolves when at least `count` requests match, or when the signal fires. */
  readonly waitFor: (endpoint: string | undefined, count: number, signal: AbortSignal) => Promise<void>;
}

const LOG_LIMIT = 10_000;

export function createRequestLog(): RequestLog {
  const entries: { readonly entry: LoggedRequest; readonly endpoint: string }[] = [];
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();

  function list(endpoint: string | undefined): readonly LoggedRequest[] {
    return entries
      .slice(-LOG_LIMIT)
      .filter((one) => matches(one.entry, one.endpoint, endpoint))
      .map(({ entry }) => entry);
  }

  return {
    list,
    counts: () => Object.fromEntries(counts),
    add: (entry, endpoint) => {
      entries.push({ entry, endpoint });
      // Cut rarely, so that a long run costs no more per request than a short one.
      if (entries.length > 2 * LOG_LIMIT) entries.splice(0, LOG_LIMIT);
      counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
      for (const look of [...waiting]) look();
    },
    clear: () => {
      entries.length = 0;
      counts.clear();
    },
    waitFor: (endpoint, count, signal) =>
      new Promise((resolve) => {
        const finish = (): void => {
          waiting.delete(look);
          signal.removeEventListener('abort', finish);
          resolve();
        };
        const look = (): void => {
          if (signal.aborted || list(endpoint).length >= count) finish();
        };
        waiting.add(look);
        signal.addEventListener('abort', finish);
        look();
      }),
  };
}

/** Enough to tell two tokens apart, and nothing to guess the rest from. */
export function hintOf(token: string): string | undefined {
  return token.length >= 16 ? token.slice(-4) : undefined;
}

function matches(entry: LoggedRequest, endpoint: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  return [endpoint, `${entry.method} ${entry.path}`, entry.path].includes(wanted);
}
