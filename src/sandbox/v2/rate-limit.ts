/** The state of the rate limit of a caller after a request. */
export interface RateLimitUsage {
  readonly limit: number;
  readonly remaining: number;
  /** The end of the current rate limit window, in milliseconds of the virtual clock. */
  readonly resetAt: number;
  /** Milliseconds until the caller may send the request again; present only when the request exceeds the rate limit. */
  readonly retryAfterMs?: number;
}

export interface RateLimiter {
  /** Counts a request of a caller; returns undefined if there are no limits. */
  readonly countRequest: (caller: string, now: number) => RateLimitUsage | undefined;
  readonly reset: () => void;
}

/** Counts the requests of each caller in fixed time windows. Without rules, no request is limited and no rate limit is reported. */
export function createRateLimiter(rules: readonly Rule[] | undefined): RateLimiter {
  if (rules === undefined) return { reset: () => {}, countRequest: () => undefined };
  const callers = new Map<string, readonly Window[]>();
  return {
    reset: () => callers.clear(),
    countRequest: (caller, now) => {
      const windows = (callers.get(caller) ?? rules.map(() => FRESH)).map((window, index) => {
        return now < window.endsAt ? window : { used: 0, endsAt: now + (rules[index]?.windowMs ?? 0) };
      });
      const full = windows.filter((window, index) => window.used >= (rules[index]?.limit ?? 0));
      const isRefused = full.length > 0;
      const counted = isRefused ? windows : windows.map(({ used, endsAt }) => ({ used: used + 1, endsAt }));
      callers.set(caller, counted);
      const tightest = counted
        .map(({ used, endsAt }, index) => ({ limit: rules[index]?.limit ?? 0, used, endsAt }))
        .reduce((left, right) => (right.limit - right.used < left.limit - left.used ? right : left));
      return {
        limit: tightest.limit,
        remaining: Math.max(0, tightest.limit - tightest.used),
        resetAt: tightest.endsAt,
        ...(isRefused ? { retryAfterMs: Math.max(...full.map(({ endsAt }) => endsAt)) - now } : {}),
      };
    },
  };
}

/** Parses a text such as `5000/h,250/m`; throws an Error that names the invalid part. */
export function parseRateLimits(text: string): readonly Rule[] {
  return text.split(',').map((part) => {
    const [, limit, unit] = /^\s*(\d{1,9})\/([smhd])\s*$/.exec(part) ?? [];
    const windowMs = UNITS.get(unit ?? '');
    if (limit === undefined || windowMs === undefined || Number(limit) === 0) {
      throw new Error(
        `rate limit ${JSON.stringify(part)} is not valid: write it as NUMBER/UNIT, such as 250/m; the units are s, m, h, d`,
      );
    }
    return { limit: Number(limit), windowMs };
  });
}

export function renderRateLimitHeaders(usage: RateLimitUsage | undefined): Readonly<Record<string, string>> {
  if (usage === undefined) return {};
  return {
    'ratelimit-limit': String(usage.limit),
    'ratelimit-remaining': String(usage.remaining),
    'ratelimit-reset': String(Math.ceil(usage.resetAt / 1000)),
    ...(usage.retryAfterMs === undefined
      ? {}
      : { 'retry-after': String(Math.max(1, Math.ceil(usage.retryAfterMs / 1000))) }),
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
const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
