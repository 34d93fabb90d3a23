import type { FaultFields } from './faults/fault.ts';

/** A request in the request log, without its query and secrets. */
export interface LoggedRequest extends Partial<FaultFields> {
  /** The time of the request in ISO 8601, by the virtual clock. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  /** The HTTP status of the reply; 0 when a fault prevented the reply. */
  readonly status: number;
  /** The client ID of a registered application, else `(unknown)`. */
  readonly client_id?: string;
  /** A grant type of RFC 6749, else `(unknown)`. */
  readonly grant_type?: string;
  /** The last four characters of the token in the request. */
  readonly token_hint?: string;
  /** Whether the whole reply was sent; present only for a request to which a fault applied. */
  readonly delivered?: boolean;
}

/** The log fields that are known before the reply exists, as the client sent them. */
export type LogFields = Pick<LoggedRequest, 'client_id' | 'grant_type' | 'token_hint'>;

/** Connects the requests of one login. It is stored with the log entry and contains no secret. */
export interface LoginCorrelation {
  readonly clientId: string;
  /** The UUID of the person, if it is known before the reply. */
  readonly person?: string;
  /** A hash of the authorization request; requests that contain the same authorization request have the same hash. */
  readonly login?: string;
  /**
   * Fingerprint of a login: the same for its authorization code, for the tokens issued for this code, and for the tokens of
   * later refreshes.
   */
  readonly chain?: string;
  /** Destination and result of the redirect to the application. */
  readonly redirect?: { readonly host: string; readonly outcome: string };
}

/** An entry of the request log with its login correlation, for the control panel. */
export interface RequestOfLogin {
  readonly entry: LoggedRequest;
  readonly trace: LoginCorrelation | undefined;
}

/**
 * Keeps the latest requests and counts all requests. An `endpoint` is `METHOD path`, where the path is either the path of the
 * request or the path pattern of the route.
 */
export interface RequestLog {
  /** Returns a function that the caller calls after delivering the reply to a request to which a fault applied. */
  readonly add: (entry: LoggedRequest, endpoint: string, trace?: LoginCorrelation) => () => void;
  readonly list: (endpoint: string | undefined) => readonly LoggedRequest[];
  /** Every logged request that is still kept, oldest first. */
  readonly traced: () => readonly RequestOfLogin[];
  readonly counts: () => Readonly<Record<string, number>>;
  readonly clear: () => void;
  /** Resolves when at least `count` logged requests match, or when the signal is aborted. */
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
      // Old log entries are removed in large steps, because removing from the start of an array is slow.
      if (entries.length > 2 * LOG_LIMIT) entries.splice(0, LOG_LIMIT);
      counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
      for (const check of [...waiting]) check();
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
          waiting.delete(check);
          signal.removeEventListener('abort', finish);
          resolve();
        };
        const check = (): void => {
          if (signal.aborted || list(endpoint).length >= count) finish();
        };
        waiting.add(check);
        signal.addEventListener('abort', finish);
        check();
      }),
  };
}

/**
 * Removes the parts of a log entry that can be secrets which the client sent in the wrong place: a token as client ID, an
 * authorization code as grant type, or parameters in the path.
 */
export function redactRequest(entry: LoggedRequest, isRegistered: (clientId: string) => boolean): LoggedRequest {
  const { path, client_id: clientId, grant_type: grantType } = entry;
  return {
    ...entry,
    path: (path.split(PARAMETER_IN_PATH, 1)[0] ?? '').slice(0, MAX_LOGGED_PATH_LENGTH),
    ...(clientId === undefined || isRegistered(clientId) ? {} : { client_id: UNKNOWN_VALUE }),
    ...(grantType === undefined || KNOWN_GRANT_TYPES.includes(grantType) ? {} : { grant_type: UNKNOWN_VALUE }),
  };
}

/** The last four characters of a token, which distinguish tokens but do not allow guessing one. */
export function tokenEnd(token: string): string | undefined {
  return token.length >= 16 ? token.slice(-4) : undefined;
}

interface LogEntry {
  entry: LoggedRequest;
  readonly endpoint: string;
  readonly trace: LoginCorrelation | undefined;
}

function matches(entry: LoggedRequest, endpoint: string, filter: string | undefined): boolean {
  if (filter === undefined) return true;
  return [endpoint, `${entry.method} ${entry.path}`, entry.path].includes(filter);
}

const UNKNOWN_VALUE = '(unknown)';
const KNOWN_GRANT_TYPES: readonly string[] = ['authorization_code', 'refresh_token', 'client_credentials', 'password'];
const MAX_LOGGED_PATH_LENGTH = 200;
/** The characters & ; = ? and their percent-encoded forms, also when they were encoded several times. No route contains them. */
const PARAMETER_IN_PATH = /[&;=?]|%(?:25)*(?:26|3b|3d|3f)/i;
