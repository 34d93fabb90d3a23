import type { SandboxClusterMigrator } from './cluster-migrator.ts';
import type { FaultList } from './faults/fault-list.ts';
import type { SandboxHttpReply } from './http/reply.ts';
import type { SandboxHttpRequest } from './http/request.ts';
import type { LiveSandboxState } from './live-sandbox-state.ts';
import type { SandboxAccessDetails } from './ready-line.ts';
import type { SandboxRequestLog } from './request-log.ts';
import type { SandboxRateLimiter } from './v2/rate-limit.ts';

/** The dependencies that every request handler receives. */
export interface SandboxHandlerContext {
  readonly world: LiveSandboxState;
  readonly log: SandboxRequestLog;
  readonly limiter: SandboxRateLimiter;
  readonly faults: FaultList;
  readonly planes: SandboxClusterMigrator;
  readonly settings: SandboxSettings;
  readonly ready: SandboxAccessDetails;
  /** A signal that is aborted when the sandbox closes. */
  readonly closing: AbortSignal;
}

/** Replies to a request of a public or an admin route. */
export type SandboxRequestHandler = (request: SandboxHttpRequest, service: SandboxHandlerContext) => SandboxHttpReply;

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
