/** What can be made to happen to a request instead of, or after, its being carried out. */
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
] as const;

export type FaultActionName = (typeof FAULT_ACTION_NAMES)[number];

/** Which requests a fault is for; what is absent fits every one. */
export interface FaultMatch {
  readonly method?: string;
  /** As it is sent, or as the route writes it (`/v2/droplets/{id}`); with `*` at its end, everything that begins so. */
  readonly path?: string;
  readonly grant_type?: string;
}

export interface FaultSpec {
  readonly match: FaultMatch;
  readonly action: FaultActionName;
  /** The first match it applies to, counted from 1 (1). */
  readonly nth?: number;
  /** How many matches it applies to (1). */
  readonly times?: number;
  /** Milliseconds of real time before the answer; between two bytes of a slow_drip. */
  readonly delay?: number;
  /** Of the action `status` (500). */
  readonly status?: number;
}

export interface Fault extends FaultSpec {
  readonly id: number;
  readonly nth: number;
  readonly times: number;
}

/** A fault and what became of it so far. */
export interface FaultRecord extends Fault {
  /** Requests that fitted since it was added. */
  readonly matched: number;
  readonly applied: number;
  /** How often it will still apply. */
  readonly remaining: number;
}

/** What the request log says of a request that met a fault. */
export interface FaultOutcome {
  readonly fault: FaultActionName;
  /** Whether the request was carried out. */
  readonly committed: boolean;
}

/** What of a request a fault looks at. */
export interface RequestFacts {
  readonly method: string;
  readonly path: string;
  /** The path as the route writes it. */
  readonly routePath?: string | undefined;
  readonly grantType?: string | undefined;
}

export function isFaultMatch({ method, path, grant_type }: FaultMatch, sign: RequestFacts): boolean {
  return (
    (method === undefined || method === sign.method) &&
    (path === undefined || path === sign.routePath || fitsPath(path, sign.path)) &&
    (grant_type === undefined || grant_type === sign.grantType)
  );
}

function fitsPath(wanted: string, path: string): boolean {
  return wanted.endsWith('*') ? path.startsWith(wanted.slice(0, -1)) : path === wanted;
}
