/** How much of its allowance a caller has left. */
export interface RateLimitUsage {
  readonly limit: number;
  readonly remaining: number;
  /** Milliseconds of the virtual clock. */
  readonly resetAt: number;
  /** Set when the request is over the limit. */
  readonly retryAfterMs?: number;
}

export interface RateLimiter {
  readonly countRequest: (caller: string, now: number) => RateLimitUsage;
  readonly reset: () => void;
}

/** Fixed windows for each caller; without a rule the public hourly limit is counted down but never enforced. */
export function createRateLimiter(rules: readonly Rule[] | undefined): RateLimiter {
  const enforced = rules !== undefined;
  const applied = rules ?? [PUBLIC_RULE];
  const callers = new Map<string, readonly Window[]>();
  return {
    reset: () => callers.clear(),
    countRequest: (caller, now) => {
      const windows = (callers.get(caller) ?? applied.map(() => FRESH)).map((window, index) => {
        return now < window.endsAt ? window : { used: 0, endsAt: now + (applied[index]?.windowMs ?? 0) };
      });
      const full = windows.filter((window, index) => enforced && window.used >= (applied[index]?.limit ?? 0));
      const refused = full.length > 0;
      const counted = refused ? windows : windows.map(({ used, endsAt }) => ({ used: used + 1, endsAt }));
      callers.set(caller, counted);
      const tightest = counted
        .map(({ used, endsAt }, index) => ({ limit: applied[index]?.limit ?? 0, used, endsAt }))
        .reduce((left, right) => (right.limit - right.used < left.limit - left.used ? right : left));
      return {
        limit: tightest.limit,
        remaining: Math.max(0, tightest.limit - tightest.used),
        resetAt: tightest.endsAt,
        ...(refused ? { retryAfterMs: Math.max(...full.map(({ endsAt }) => endsAt)) - now } : {}),
      };
    },
  };
}

/** Reads `5000/h,250/m`; throws with the part it does not understand. */
export function parseRateLimit(text: string): readonly Rule[] {
  return text.split(',').map((part) => {
    const [, limit, unit] = /^\s*(\d{1,9})\/([smhd])\s*$/.exec(part) ?? [];
    const windowMs = UNITS.get(unit ?? '');
    if (limit === undefined || windowMs === undefined || Number(limit) === 0) {
      throw new Error(`rate limit ${JSON.stringify(part)} is not of the form 250/m (s, m, h or d)`);
    }
    return { limit: Number(limit), windowMs };
  });
}

export function renderRateLimitHeaders(ticket: RateLimitUsage): Readonly<Record<string, string>> {
  return {
    'ratelimit-limit': String(ticket.limit),
    'ratelimit-remaining': String(ticket.remaining),
    'ratelimit-reset': String(Math.ceil(ticket.resetAt / 1000)),
    ...(ticket.retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.max(1, Math.ceil(ticket.retryAfterMs / 1000))) }),
  };
}

interface Rule {
  readonly limit: number;
  readonly windowMs: number;
}

interface Window {
  readonly used: number;
  readonly endsAt: number;
}

const FRESH: Window = { used: 0, endsAt: Number.NEGATIVE_INFINITY };
const PUBLIC_RULE: Rule = { limit: 5000, windowMs: 3_600_000 };
const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
