/** What a fault can do to a request. Some actions replace the handler; the others change the reply after it. */
export const FAULT_ACTION_NAMES = [
  'delay',
  'status',
  'drop_before_commit',
  'commit_then_drop',
  'half_body',
  'bad_json',
  'html_502',
  'redirect_307',
  'reset',
  'slow_drip',
  'rate_limit',
  'commit_late',
  'normalize_attributes',
  'lag_lists',
] as const;

export type FaultActionName = (typeof FAULT_ACTION_NAMES)[number];

/** Actions that change how the server carries a request out. They apply in addition to one of the others. */
export const REQUEST_HANDLING_FAULT_NAMES = ['normalize_attributes', 'lag_lists'] as const;

export type RequestHandlingFaultName = (typeof REQUEST_HANDLING_FAULT_NAMES)[number];

export function changesRequestHandling(action: FaultActionName): action is RequestHandlingFaultName {
  return REQUEST_HANDLING_FAULT_NAMES.some((name) => name === action);
}

/** Actions that do nothing without a delay. */
export const DELAYED_ACTION_NAMES: readonly FaultActionName[] = ['delay', 'commit_late', 'lag_lists'];

/** The requests a fault applies to. An absent member matches every request. */
export interface FaultMatch {
  readonly method?: string;
  /** The path as sent, or of the route (`/v2/droplets/{id}`). With `*` at its end it is a prefix. */
  readonly path?: string;
  readonly grant_type?: string;
}

export interface FaultSpec {
  readonly match: FaultMatch;
  readonly action: FaultActionName;
  /** The first matching request it applies to, counted from 1 (default: 1). */
  readonly nth?: number;
  /** The number of matching requests it applies to (default: 1). */
  readonly times?: number;
  /**
   * Milliseconds of real time before the reply; for slow_drip, between two bytes; for commit_late, before the request is
   * carried out. For lag_lists, milliseconds of the virtual clock, which `created_at` is compared with.
   */
  readonly delay?: number;
  /** For the action `status` (default: 500). */
  readonly status?: number;
}

export interface Fault extends FaultSpec {
  readonly id: number;
  readonly nth: number;
  readonly times: number;
}

/** A fault with its counters. */
export interface FaultRecord extends Fault {
  /** Matching requests since it was added. */
  readonly matched: number;
  readonly applied: number;
  /** Requests it will still apply to. */
  readonly remaining: number;
}

/** What the request log adds for a request with a fault. */
export interface FaultOutcome {
  readonly fault: FaultActionName;
  /** Whether the handler ran. */
  readonly committed: boolean;
}

/** The properties of a request that a fault can match. */
export interface RequestFacts {
  readonly method: string;
  readonly path: string;
  /** The path of the route, with `{…}`. */
  readonly routePath?: string | undefined;
  readonly grantType?: string | undefined;
}

export function isFaultMatch({ method, path, grant_type }: FaultMatch, request: RequestFacts): boolean {
  return (
    (method === undefined || method === request.method) &&
    (path === undefined || path === request.routePath || isPathMatch(path, request.path)) &&
    (grant_type === undefined || grant_type === request.grantType)
  );
}

function isPathMatch(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}
