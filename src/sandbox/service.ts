import type { DataPlanes } from './data-plane.ts';
import type { Faults } from './faults.ts';
import type { RequestLog } from './log.ts';
import type { ReadyLine } from './ready.ts';
import type { RateLimiter } from './v2/rate-limit.ts';
import type { World } from './world.ts';

/** What every handler is given. */
export interface Service {
  readonly world: World;
  readonly log: RequestLog;
  readonly limiter: RateLimiter;
  readonly faults: Faults;
  readonly planes: DataPlanes;
  readonly settings: Settings;
  readonly ready: ReadyLine;
  /** Fires when the sandbox closes. */
  readonly closing: AbortSignal;
}

export interface Settings {
  readonly adminToken: string;
  /** The one Host the admin API answers to. */
  readonly adminAuthority: string;
  readonly cookieName: string;
  readonly dropletLimit: number;
  readonly revokeOnReplay: boolean;
  readonly unknownTokenStatus: 404 | 401;
}
