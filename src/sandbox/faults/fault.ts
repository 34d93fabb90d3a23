/**
 * The actions with which a fault can change a request or its reply. Some fault actions replace the handler; the others change
 * the reply that the handler created.
 */
export const ACTION_NAMES = [
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

export type ActionName = (typeof ACTION_NAMES)[number];

/**
 * Fault actions that change how the server processes a request. A change of handling applies in addition to one of the other
 * fault actions.
 */
export const INPUT_ACTIONS = ['normalize_attributes', 'lag_lists'] as const;

export type InputAction = (typeof INPUT_ACTIONS)[number];

export function isInputAction(action: ActionName): action is InputAction {
  return INPUT_ACTIONS.some((name) => name === action);
}

/** Fault actions that have no effect without a delay. */
export const DELAY_ACTIONS: readonly ActionName[] = ['delay', 'commit_late', 'lag_lists'];

/** The requests to which a fault applies. A member that is absent in `match` matches every request. */
export interface FaultMatch {
  readonly method?: string;
  /**
   * The path of the request or the path pattern of the route (`/v2/droplets/{id}`). If the path ends in `*`, the text before it
   * is a prefix.
   */
  readonly path?: string;
  readonly grant_type?: string;
}

export interface FaultSpec {
  readonly match: FaultMatch;
  readonly action: ActionName;
  /** The first matching request to which the fault applies, counted from 1 (default: 1). */
  readonly nth?: number;
  /** The number of matching requests to which the fault applies (default: 1). */
  readonly times?: number;
  /**
   * The delay in milliseconds of real time before the reply; for slow_drip, between two bytes; for commit_late, before the
   * request is processed. For lag_lists, the delay is in milliseconds of the virtual clock and is compared with the age of a
   * droplet.
   */
  readonly delay?: number;
  /** The HTTP status of the fault action `status` (default: 500). */
  readonly status?: number;
}

export interface Fault extends FaultSpec {
  readonly id: number;
  readonly nth: number;
  readonly times: number;
}

/** A fault with its counters of requests. */
export interface CountedFault extends Fault {
  /** The number of matching requests since the fault was added. */
  readonly matched: number;
  readonly applied: number;
  /** The number of requests to which the fault will still apply. */
  readonly remaining: number;
}

/** The fields that a log entry of a request with a fault has in addition. */
export interface FaultFields {
  readonly fault: ActionName;
  /** Whether the handler processed the request. */
  readonly committed: boolean;
}

/** The properties of a request that a fault can match. */
export interface FaultRequest {
  readonly method: string;
  readonly path: string;
  /** The path pattern of the route, with placeholders `{…}`. */
  readonly routePath?: string | undefined;
  readonly grantType?: string | undefined;
}

export function matchesFault({ method, path, grant_type }: FaultMatch, request: FaultRequest): boolean {
  return (
    (method === undefined || method === request.method) &&
    (path === undefined || path === request.routePath || isPathMatch(path, request.path)) &&
    (grant_type === undefined || grant_type === request.grantType)
  );
}

function isPathMatch(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}
