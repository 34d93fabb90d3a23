import type { ClusterMigrator } from './cluster-migrator.ts';
import type { FaultList } from './faults/fault-list.ts';
import type { Reply } from './http/reply.ts';
import type { HttpRequest } from './http/request.ts';
import type { ReadyLine } from './ready-line.ts';
import type { RequestLog } from './request-log.ts';
import type { RateLimiter } from './v2/rate-limit.ts';
import type { World } from './world.ts';

/** The dependencies that every request handler receives. */
export interface Service {
  readonly world: World;
  readonly log: RequestLog;
  readonly limiter: RateLimiter;
  readonly faults: FaultList;
  readonly planes: ClusterMigrator;
  readonly settings: SandboxSettings;
  readonly ready: ReadyLine;
  /** A signal that is aborted when the sandbox closes. */
  readonly closing: AbortSignal;
}

/** Replies to a request of a public or an admin route. */
export type PublicHandler = (request: HttpRequest, service: Service) => Reply;

export interface SandboxSettings {
  readonly adminToken: string;
  /** The values of the Host header that the admin API accepts: those of its public and its local origin. */
  readonly adminAuthorities: ReadonlySet<string>;
  /** Whether the pages of the control panel, except the sign-in page, require the admin token. */
  readonly panelNeedsAdminToken: boolean;
  readonly cookieName: string;
  readonly isHttps: boolean;
  readonly dropletLimit: number;
  readonly revokeOnReplay: boolean;
  readonly unknownTokenStatus: 404 | 401;
  /** The minimum age of a droplet in a list, in milliseconds of the virtual clock. */
  readonly listLagMs: number;
}
