/**
 * The actions with which a fault can change a request or its reply. Some fault actions replace the handler; the others change
 * the reply that the handler created.
 */
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

/**
 * Fault actions that change how the server processes a request. A change of handling applies in addition to one of the other
 * fault actions.
 */
export const HANDLER_INPUT_ALTERING_FAULT_ACTION_NAMES = ['normalize_attributes', 'lag_lists'] as const;

export type HandlerInputAlteringFaultActionName = (typeof HANDLER_INPUT_ALTERING_FAULT_ACTION_NAMES)[number];

export function isHandlerInputAlteringFaultAction(
  action: FaultActionName,
): action is HandlerInputAlteringFaultActionName {
  return HANDLER_INPUT_ALTERING_FAULT_ACTION_NAMES.some((name) => name === action);
}

/** Fault actions that have no effect without a delay. */
export const DELAY_REQUIRING_FAULT_ACTION_NAMES: readonly FaultActionName[] = ['delay', 'commit_late', 'lag_lists'];

/** The requests to which a fault applies. A member that is absent in `match` matches every request. */
export interface FaultMatchCriteria {
  readonly method?: string;
  /**
   * The path of the request or the path pattern of the route (`/v2/droplets/{id}`). If the path ends in `*`, the text before it
   * is a prefix.
   */
  readonly path?: string;
  readonly grant_type?: string;
}

export interface FaultSpec {
  readonly match: FaultMatchCriteria;
  readonly action: FaultActionName;
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
export interface FaultWithCounters extends Fault {
  /** The number of matching requests since the fault was added. */
  readonly matched: number;
  readonly applied: number;
  /** The number of requests to which the fault will still apply. */
  readonly remaining: number;
}

/** The fields that a log entry of a request with a fault has in addition. */
export interface FaultLogFields {
  readonly fault: FaultActionName;
  /** Whether the handler processed the request. */
  readonly committed: boolean;
}

/** The properties of a request that a fault can match. */
export interface FaultRequestProperties {
  readonly method: string;
  readonly path: string;
  /** The path pattern of the route, with placeholders `{…}`. */
  readonly routePath?: string | undefined;
  readonly grantType?: string | undefined;
}

export function isFaultMatchingRequest(
  { method, path, grant_type }: FaultMatchCriteria,
  request: FaultRequestProperties,
): boolean {
  return (
    (method === undefined || method === request.method) &&
    (path === undefined || path === request.routePath || isPathMatch(path, request.path)) &&
    (grant_type === undefined || grant_type === request.grantType)
  );
}

function isPathMatch(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}
