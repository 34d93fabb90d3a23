import type { IncomingMessage } from 'node:http';
import { bodyLimit, resetSandbox, setConsentMode } from './admin.ts';
import { type ClusterMigrator, type ClusterServer, createMigrator } from './cluster-migrator.ts';
import { createSeed, extendSeed, readData, requireOptions } from './data.ts';
import { type SandboxDataClock, SandboxDataError } from './data-types.ts';
import { createFaultList, type FaultList } from './faults/fault-list.ts';
import { handleRequest, type OriginHandlers } from './handle-request.ts';
import { isLoopbackListener, type PublicAddress, type ServerOrigin } from './http/origin.ts';
import {
  BODY_LIMIT,
  type HttpHandler,
  type HttpServers,
  requireCertificate,
  startHttpServers,
  type TlsCertificate,
} from './http/server.ts';
import { apiHandlers, authHandlers } from './origins.ts';
import { randomString, systemRandom } from './random.ts';
import { buildReadyLine, type ReadyLine } from './ready-line.ts';
import { createRequestLog, type LoggedRequest } from './request-log.ts';
import type { SandboxRoute } from './routes.ts';
import type { Service } from './service.ts';
import type { SavedState } from './state/saved-state.ts';
import { openStateFolder } from './state/state-folder.ts';
import type { StateWriter } from './state/state-writer.ts';
import { createRateLimiter, parseRateLimits, type RateLimiter } from './v2/rate-limit.ts';
import { World } from './world.ts';

export interface ServerOptions {
  /**
   * The port of the authorization server (default: the port of the saved state, else any free port). `apiPort` is the port
   * of the resource API.
   */
  readonly port?: number;
  readonly apiPort?: number;
  /** The host on which the sandbox listens: 127.0.0.1 (default) or another address; other machines need `publicName`. */
  readonly host?: string;
  /**
   * The name under which other machines reach the sandbox, which is then the host of all URLs. The panel requires the admin
   * token.
   */
  readonly publicName?: PublicAddress;
  /** With a certificate both origins use HTTPS. */
  readonly tls?: TlsCertificate;
  /** The admin token (default: the admin token of the saved state, else a random one). */
  readonly adminToken?: string;
  /**
   * What the sandbox contains: a SandboxData or a snapshot, which is checked before anything starts. A saved state takes its
   * place.
   */
  readonly data?: unknown;
  /** The clock of a new sandbox and after a reset, unless the data has one. */
  readonly clock?: SandboxDataClock;
  /** E-mail addresses of further people. */
  readonly users?: readonly string[];
  /** Callback URLs of the first application, before those of its data. */
  readonly callbackUrls?: readonly string[];
  readonly apps?: readonly { readonly name: string; readonly callbackUrl: string }[];
  /**
   * With a seed, the ids, client credentials and passwords of the sandbox are the same at every start. Access and refresh
   * tokens are always random.
   */
  readonly seed?: number;
  /** The rate limits of the API, such as `5000/h,250/m` (default: no limit, and no rate limit headers). */
  readonly rateLimit?: string;
  readonly dropletLimit?: number;
  readonly revokeOnReplay?: boolean;
  readonly unknownTokenStatus?: 404 | 401;
  /**
   * The folder for the saved state, used by one sandbox at a time. Without a state folder, the state is lost when the sandbox
   * closes.
   */
  readonly state?: string;
  /** Database servers of clusters; migrations into these clusters copy rows. */
  readonly clusters?: readonly ClusterServer[];
  /** Finishes a migration when there are no changes to replicate for 60 s of the virtual clock. */
  readonly finishWhenIdle?: boolean;
  /** Whether migrations may create objects in the target database that only a superuser can create. */
  readonly allowSuperuserObjects?: boolean;
  /**
   * The environment variables with which migrations search for pg_dump. By default this environment is empty, so that
   * migrations read the system catalogs instead of running pg_dump.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly now?: () => number;
}

export interface SandboxServers {
  readonly ready: ReadyLine;
  /** The origin of the admin API at which this machine reaches it, whatever the public name is. */
  readonly localAdminUrl: string;
  /** Warnings about the state folder or about database objects of earlier migrations, one per line. */
  readonly notice: string | undefined;
  /** Resolves with the error when the state could not be written; from then on every request gets status 500. */
  readonly failure: Promise<Error>;
  readonly close: () => Promise<void>;
  readonly world: World;
  readonly faults: FaultList;
  /** The logged requests to one endpoint (`METHOD path`) or to all endpoints, oldest first. */
  readonly requests: (endpoint?: string) => readonly LoggedRequest[];
  /** As `POST /_sandbox/consent`; the result is the error message for a member of the body. */
  readonly setConsent: (body: ReadonlyMap<string, unknown>) => string | undefined;
  /** As `POST /_sandbox/reset`. */
  readonly reset: () => void;
}

/**
 * Starts both origins of the sandbox. Rejects with a SandboxStateFolderError when the state folder cannot be used, and with an Error with
 * the members `code` (such as EADDRINUSE) and `port` when a port cannot be used.
 */
export async function startServers(options: ServerOptions = {}): Promise<SandboxServers> {
  const limiter = createRateLimiter(options.rateLimit === undefined ? undefined : parseRateLimits(options.rateLimit));
  const data = options.data === undefined ? undefined : readData(options.data);
  requireOptions(options);
  if (data !== undefined && isTimedTwice(data, options.clock))
    throw new SandboxDataError('clock is given twice: in the data and as an option');
  if (options.tls !== undefined) requireCertificate(options.tls);

  const state = options.state === undefined ? undefined : openStateFolder(options.state);
  const closing = new AbortController();
  const origins: HttpServers[] = [];
  let writer: StateWriter | undefined;
  let planes: ClusterMigrator | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    await planes?.close();
    await Promise.all(origins.map((origin) => origin.close()));
    await writer?.close();
    state?.release();
  };
  let service: Service | undefined;
  const serve =
    <R extends SandboxRoute>(server: OriginHandlers<R>) =>
    (names: ServerOrigin): HttpHandler => {
      return (message, body) => {
        if (service === undefined) return { status: 503, headers: { 'retry-after': '1' }, body: '' };
        const reply = handleRequest(server, service, names, message, body);
        return writer === undefined ? reply : writer.hold(reply);
      };
    };
  const limitOf = (message: IncomingMessage): number =>
    service === undefined ? BODY_LIMIT : bodyLimit(message, service.settings);
  try {
    const savedIdentity = state?.saved?.identity;
    const host = options.host ?? savedIdentity?.host ?? '127.0.0.1';
    const { publicName } = options;
    if (publicName === undefined && !isLoopbackListener(host)) {
      throw new Error(`host ${host} is not a loopback host; use 127.0.0.1, ::1 or localhost`);
    }
    const publicHost = publicName?.host;
    // Clients must be able to know both ports beforehand, because containers publish ports by number.
    const [port, apiPort] = publicName === undefined ? [] : [publicName.port, publicName.port + 1];
    planes = await createMigrator({ ...options, now: () => service?.world.now() ?? 0 });
    const auth = await startHttpServers(host, options.port ?? port ?? savedIdentity?.port ?? 0, {
      publicHost,
      handlerOf: serve(authHandlers),
      limitOf,
      tls: options.tls,
    });
    origins.push(auth);
    const api = await startHttpServers(host, options.apiPort ?? apiPort ?? savedIdentity?.apiPort ?? 0, {
      publicHost,
      handlerOf: serve(apiHandlers),
      tls: options.tls,
    });
    origins.push(api);
    const created = await createService(options, {
      limiter,
      auth,
      api,
      saved: state?.saved,
      closing: closing.signal,
      planes,
      data,
    });
    const { world, faults, log, settings } = created;
    const seedNumber = options.seed ?? savedIdentity?.seedNumber;
    writer = await state?.startWriter(world, {
      adminToken: settings.adminToken,
      // The next start uses a listen address that other machines can reach only if the options of that start contain it.
      host: isLoopbackListener(host) ? host : '127.0.0.1',
      port: auth.port,
      apiPort: api.port,
      ...(seedNumber === undefined ? {} : { seedNumber }),
    });
    service = created;
    const leftovers = await planes.recover(world);
    const unused = data !== undefined && state?.saved !== undefined ? UNUSED_DATA : undefined;
    const notice = [state?.notice, unused, ...leftovers].filter((line) => line !== undefined).join('\n');
    const failure = writer?.failure ?? new Promise<Error>(() => {});
    const requests: SandboxServers['requests'] = (endpoint) => log.list(endpoint);
    return {
      ready: service.ready,
      localAdminUrl: auth.localOrigin,
      notice: notice === '' ? undefined : notice,
      failure,
      world,
      faults,
      requests,
      setConsent: (body) => setConsentMode(body, world),
      reset: () => resetSandbox(created),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A snapshot has a time; it can be frozen at this time. */
function isTimedTwice(data: ReturnType<typeof readData>, clock: SandboxDataClock = {}): boolean {
  return 'format' in data ? clock.startAt !== undefined : data.clock !== undefined && Object.keys(clock).length > 0;
}

const UNUSED_DATA = 'the saved state is used; data is read only for a new state folder';

interface ServiceParts {
  readonly limiter: RateLimiter;
  readonly auth: HttpServers;
  readonly api: HttpServers;
  readonly saved: SavedState | undefined;
  readonly closing: AbortSignal;
  readonly planes: ClusterMigrator;
  readonly data: ReturnType<typeof readData> | undefined;
}

async function createService(
  options: ServerOptions,
  { limiter, auth, api, saved, closing, planes, data }: ServiceParts,
): Promise<Service> {
  const random = systemRandom();
  const seedOptions = { ...options, clusters: planes.clusters, data };
  const seed = saved === undefined ? await createSeed(seedOptions, random) : extendSeed(saved, seedOptions, random);
  const adminToken = options.adminToken ?? saved?.identity.adminToken ?? randomString(random, 43);
  const world = new World(seed, random, options.now ?? Date.now, saved?.world);
  if (saved === undefined && data !== undefined && 'format' in data) world.restore(seed, data.world, data.now);
  return {
    world,
    log: createRequestLog(),
    limiter,
    faults: createFaultList(),
    planes,
    // The ready line is computed at each use, because restoring a snapshot may change people and applications.
    get ready() {
      const { origin: authUrl } = auth;
      return buildReadyLine(world.seed, {
        authUrl,
        baseUrl: api.origin,
        adminToken,
        planeOf: planes.planeOf,
      });
    },
    closing,
    settings: {
      adminToken,
      adminAuthorities: new Set([auth.origin, auth.localOrigin].map((origin) => new URL(origin).host)),
      panelNeedsAdminToken: options.publicName !== undefined,
      // Browsers send a cookie to all ports of a host, so the cookie of each sandbox has its own name.
      cookieName: `sandbox_session_${auth.port}`,
      isHttps: options.tls !== undefined,
      dropletLimit: options.dropletLimit ?? Number.POSITIVE_INFINITY,
      revokeOnReplay: options.revokeOnReplay ?? false,
      unknownTokenStatus: options.unknownTokenStatus ?? 404,
      listLagMs: 0,
    },
  };
}
