import type { FaultOutcome } from './faults/fault.ts';

/** One request as it may be shown: the query and every secret are left out. */
export interface LoggedRequest extends Partial<FaultOutcome> {
  /** ISO 8601, on the virtual clock. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** Of the answer as it was made; 0 when a fault made none. */
  readonly status: number;
  readonly client_id?: string;
  readonly grant_type?: string;
  /** The last four characters of the token that was presented. */
  readonly token_hint?: string;
  /** Of a request that met a fault: whether the last byte of its answer has left. */
  readonly delivered?: boolean;
}

/** What a request is about, known before it is answered. */
export type LogFields = Pick<LoggedRequest, 'client_id' | 'grant_type' | 'token_hint'>;

/** What ties the requests of one login together. It stands beside an entry of the request log and holds no secret. */
export interface LoginTrace {
  readonly clientId: string;
  /** UUID, as far as it is known before the answer. */
  readonly person?: string;
  /** The same for every request that carries the same authorization request. */
  readonly login?: string;
  /** Where the application was answered, and with what. */
  readonly redirect?: { readonly host: string; readonly outcome: string };
}

/** An entry with what only the pages of the control panel make use of. */
export interface TracedRequest {
  readonly entry: LoggedRequest;
  readonly trace: LoginTrace | undefined;
}

/** Keeps the latest requests and counts all of them; `endpoint` is `METHOD path`, with the path as sent or as the route writes it. */
export interface RequestLog {
  /** Returns what to call when the answer to a request that met a fault has been delivered. */
  readonly add: (entry: LoggedRequest, endpoint: string, trace?: LoginTrace) => () => void;
  readonly list: (endpoint: string | undefined) => readonly LoggedRequest[];
  /** Every request that was kept, oldest first. */
  readonly traced: () => readonly TracedRequest[];
  readonly counts: () => Readonly<Record<string, number>>;
  readonly clear: () => void;
  /** Resolves when at least `count` requests match, or when the signal fires. */
  readonly waitFor: (endpoint: string | undefined, count: number, signal: AbortSignal) => Promise<void>;
}

const LOG_LIMIT = 10_000;

export function createRequestLog(): RequestLog {
  const entries: LogEntry[] = [];
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
    traced: () => entries.slice(-LOG_LIMIT),
    counts: () => Object.fromEntries(counts),
    add: (entry, endpoint, trace) => {
      const kept: LogEntry = { entry, endpoint, trace };
      entries.push(kept);
      // Cut rarely, so that a long run costs no more per request than a short one.
      if (entries.length > 2 * LOG_LIMIT) entries.splice(0, LOG_LIMIT);
      counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
      for (const look of [...waiting]) look();
      return () => {
        kept.entry = { ...kept.entry, delivered: true };
      };
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
export function getTokenHint(token: string): string | undefined {
  return token.length >= 16 ? token.slice(-4) : undefined;
}

interface LogEntry {
  entry: LoggedRequest;
  readonly endpoint: string;
  readonly trace: LoginTrace | undefined;
}

function matches(entry: LoggedRequest, endpoint: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  return [endpoint, `${entry.method} ${entry.path}`, entry.path].includes(wanted);
}
