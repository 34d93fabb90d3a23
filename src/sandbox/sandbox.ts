import type { IncomingMessage } from 'node:http';
import { requestBodyLimit } from './admin/body-limit.ts';
import { assertCallbackUrl } from './callback-url.ts';
import { type ClusterDataPlane, type DataPlanes, openDataPlanes } from './data-planes.ts';
import { createFaultList, type FaultList } from './faults/fault-list.ts';
import type { HttpReply } from './http/http-reply.ts';
import { DEFAULT_BODY_LIMIT, type HttpHandler } from './http/http-server.ts';
import { type ListeningOrigin, LOOPBACK_HOSTS, openListeningOrigin } from './http/listening-origin.ts';
import { randomString, systemRandom } from './random.ts';
import { buildReadyLine, type ReadyLine } from './ready-line.ts';
import { createRequestLog, type LoggedRequest } from './request-log.ts';
import { handleRequest, type OriginServer } from './request-pipeline.ts';
import type { Route } from './routes.ts';
import { createSeedData, updateSeedData } from './seed-options.ts';
import { apiServer } from './servers/api-server.ts';
import { authServer } from './servers/auth-server.ts';
import type { SandboxService } from './service.ts';
import { replyWhenSaved } from './state/reply-when-saved.ts';
import type { SavedState } from './state/saved-state.ts';
import { openStateFolder } from './state/state-folder.ts';
import type { StateWriter } from './state/state-writer.ts';
import { createRateLimiter, parseRateLimit, type RateLimiter } from './v2/rate-limit.ts';
import { World } from './world.ts';

export interface SandboxOptions {
  /** 0 or absent: any free port. */
  readonly port?: number;
  readonly apiPort?: number;
  /** 127.0.0.1, ::1 or localhost. */
  readonly host?: string;
  readonly callbackUrls?: readonly string[];
  readonly apps?: readonly { readonly name: string; readonly callbackUrl: string }[];
  /** Makes ids, client credentials and passwords the same at every start; tokens stay random. */
  readonly seed?: number;
  /** For instance `5000/h,250/m`; absent: the headers are sent and nothing is enforced. */
  readonly rateLimit?: string;
  readonly dropletLimit?: number;
  readonly revokeOnReplay?: boolean;
  readonly unknownTokenStatus?: 404 | 401;
  /** A folder in which everything is kept; it has one sandbox at a time. Absent: memory, gone when the sandbox closes. */
  readonly state?: string;
  /** Bytes of the journal in that folder from which on it is folded into a new snapshot. */
  readonly compactAt?: number;
  /** Servers behind clusters: migrations into those really move rows. */
  readonly clusters?: readonly ClusterDataPlane[];
  /** A migration ends by itself when nothing was left to replicate for 60 s of the virtual clock. */
  readonly finishWhenIdle?: boolean;
  /** Where migrations look for pg_dump; absent: they read the catalogue. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly now?: () => number;
}

export interface Sandbox {
  readonly ready: ReadyLine;
  /** What was found in the state folder and should be known, such as the torn end of a journal. */
  readonly notice: string | undefined;
  /** Resolves when the state cannot be saved any more; nothing is answered from then on. Pending for ever otherwise. */
  readonly failure: Promise<Error>;
  readonly close: () => Promise<void>;
  readonly world: World;
  readonly faults: FaultList;
  /** What was logged of an endpoint (`METHOD path`), or of all; oldest first. */
  readonly requests: (endpoint?: string) => readonly LoggedRequest[];
}

/**
 * Starts both origins. Rejects with an Error whose `code` is EADDRINUSE and whose `port` is the one that is taken, or with a
 * StateError.
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const limiter = createRateLimiter(options.rateLimit === undefined ? undefined : parseRateLimit(options.rateLimit));
  const { callbackUrls = [], apps = [] } = options;
  for (const url of [...callbackUrls, ...apps.map(({ callbackUrl }) => callbackUrl)]) assertCallbackUrl(url);

  const state = options.state === undefined ? undefined : openStateFolder(options.state, options.compactAt);
  const closing = new AbortController();
  const doors: ListeningOrigin[] = [];
  let keeper: StateWriter | undefined;
  let planes: DataPlanes | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await planes?.close();
    await Promise.all(doors.map((door) => door.close()));
    await keeper?.close();
    state?.release();
  };
  let service: SandboxService | undefined;
  const serve =
    <R extends Route>(side: OriginServer<R>) =>
    (port: number): HttpHandler => {
      return (message, body) => {
        if (service === undefined) return STARTING;
        const reply = handleRequest(side, service, port, message, body);
        return keeper === undefined ? reply : replyWhenSaved(reply, keeper);
      };
    };
  const limitOf = (message: IncomingMessage): number =>
    service === undefined ? DEFAULT_BODY_LIMIT : requestBodyLimit(message, service.settings);
  try {
    const known = state?.saved?.identity;
    const host = options.host ?? known?.host ?? '127.0.0.1';
    if (!LOOPBACK_HOSTS.includes(host)) {
      throw new Error(`host ${host} is not a loopback host: the sandbox listens on 127.0.0.1, ::1 or localhost`);
    }
    planes = await openDataPlanes({ ...options, now: () => service?.world.now() ?? 0 });
    const auth = await openListeningOrigin(host, options.port ?? known?.port ?? 0, serve(authServer), limitOf);
    doors.push(auth);
    const api = await openListeningOrigin(host, options.apiPort ?? known?.apiPort ?? 0, serve(apiServer));
    doors.push(api);
    const furnished = await createService(options, {
      limiter,
      auth,
      api,
      saved: state?.saved,
      closing: closing.signal,
      planes,
    });
    const { world, faults, log, settings } = furnished;
    const seedNumber = options.seed ?? known?.seedNumber;
    keeper = await state?.startWriter(world, {
      adminToken: settings.adminToken,
      host,
      port: auth.port,
      apiPort: api.port,
      ...(seedNumber === undefined ? {} : { seedNumber }),
    });
    service = furnished;
    const left = await planes.recover(world);
    const notice = [state?.notice, ...left].filter((line) => line !== undefined).join('\n');
    const failure = keeper?.failure ?? new Promise<Error>(() => {});
    const requests: Sandbox['requests'] = (endpoint) => log.list(endpoint);
    return {
      ready: service.ready,
      notice: notice === '' ? undefined : notice,
      failure,
      world,
      faults,
      requests,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

interface ServiceParts {
  readonly limiter: RateLimiter;
  readonly auth: ListeningOrigin;
  readonly api: ListeningOrigin;
  readonly saved: SavedState | undefined;
  readonly closing: AbortSignal;
  readonly planes: DataPlanes;
}

async function createService(
  options: SandboxOptions,
  { limiter, auth, api, saved, closing, planes }: ServiceParts,
): Promise<SandboxService> {
  const chance = systemRandom();
  const registration = { ...options, clusters: planes.clusters };
  const seed =
    saved === undefined ? await createSeedData(registration, chance) : updateSeedData(saved, registration, chance);
  const adminToken = saved?.identity.adminToken ?? randomString(chance, 43);
  const world = new World(seed, chance, options.now ?? Date.now, saved?.world);
  return {
    world,
    log: createRequestLog(),
    limiter,
    faults: createFaultList(),
    planes,
    // Another snapshot may bring other people and applications.
    get ready() {
      const { origin: authUrl } = auth;
      return buildReadyLine(world.seed, { authUrl, baseUrl: api.origin, adminToken, planeOf: planes.planeOf });
    },
    closing,
    settings: {
      adminToken,
      adminAuthority: new URL(auth.origin).host,
      // Cookies know no ports, so two sandboxes of one machine would sign each other out under one name.
      cookieName: `sandbox_session_${auth.port}`,
      dropletLimit: options.dropletLimit ?? Number.POSITIVE_INFINITY,
      revokeOnReplay: options.revokeOnReplay ?? false,
      unknownTokenStatus: options.unknownTokenStatus ?? 404,
    },
  };
}

const STARTING: HttpReply = { status: 503, headers: { 'retry-after': '1' }, body: '' };
