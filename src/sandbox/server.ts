import { assertCallbackUrl } from './callback-url.ts';
import { letters, machineChance, seededChance } from './chance.ts';
import { type Door, freePorts, LOOPBACK_HOSTS, openDoor } from './http/door.ts';
import type { Answerer } from './http/listener.ts';
import type { Reply } from './http/reply.ts';
import { createRequestLog } from './log.ts';
import { answer, type Side } from './pipeline.ts';
import { type ReadyLine, readyLine } from './ready.ts';
import type { Route } from './routes.ts';
import { sowSeed } from './seed.ts';
import type { Service } from './service.ts';
import { apiSide } from './sides/api.ts';
import { authSide } from './sides/auth.ts';
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
  readonly now?: () => number;
}

export interface Sandbox {
  readonly ready: ReadyLine;
  readonly close: () => Promise<void>;
  readonly world: World;
}

/** Starts both origins. Rejects with an Error whose `code` is EADDRINUSE and whose `port` is the one that is taken. */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const host = options.host ?? '127.0.0.1';
  if (!LOOPBACK_HOSTS.includes(host)) {
    throw new Error(`host ${host} is not a loopback host: the sandbox listens on 127.0.0.1, ::1 or localhost`);
  }
  const limiter = createRateLimiter(options.rateLimit === undefined ? undefined : parseRateLimit(options.rateLimit));
  const { callbackUrls = [], apps = [] } = options;
  for (const url of [...callbackUrls, ...apps.map(({ callbackUrl }) => callbackUrl)]) assertCallbackUrl(url);

  const closing = new AbortController();
  const doors: Door[] = [];
  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.all(doors.map((door) => door.close()));
  };
  let service: Service | undefined;
  const serve =
    <R extends Route>(side: Side<R>) =>
    (port: number): Answerer => {
      return (message, body) => (service === undefined ? STARTING : answer(side, service, port, message, body));
    };
  try {
    doors.push(await openDoor(host, options.port ?? 0, serve(authSide)));
    doors.push(await openDoor(host, options.apiPort ?? 0, serve(apiSide)));
    service = await furnish(options, limiter, doors, closing.signal);
    return { ready: service.ready, world: service.world, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function furnish(
  options: SandboxOptions,
  limiter: RateLimiter,
  [auth, api]: readonly Door[],
  closing: AbortSignal,
): Promise<Service> {
  const { callbackUrls = [], apps = [] } = options;
  const [free = 0, other = 0] = await freePorts(2);
  const chance = machineChance();
  const seed = sowSeed(options.seed === undefined ? chance : seededChance(options.seed), [
    {
      name: 'Sandbox CLI',
      callbackUrls: callbackUrls.length > 0 ? callbackUrls : [`http://127.0.0.1:${free}/callback`],
    },
    { name: 'Sandbox Dashboard', callbackUrls: [`http://127.0.0.1:${other}/callback`] },
    ...apps.map(({ name, callbackUrl }) => ({ name, callbackUrls: [callbackUrl] })),
  ]);
  const adminToken = letters(chance, 43);
  return {
    world: new World(seed, chance, options.now ?? Date.now),
    log: createRequestLog(),
    limiter,
    ready: readyLine(seed, auth?.origin ?? '', api?.origin ?? '', adminToken),
    closing,
    settings: {
      adminToken,
      adminAuthority: new URL(auth?.origin ?? '').host,
      // Cookies know no ports, so two sandboxes of one machine would sign each other out under one name.
      cookieName: `sandbox_session_${auth?.port}`,
      dropletLimit: options.dropletLimit ?? Number.POSITIVE_INFINITY,
      revokeOnReplay: options.revokeOnReplay ?? false,
      unknownTokenStatus: options.unknownTokenStatus ?? 404,
    },
  };
}

const STARTING: Reply = { status: 503, headers: { 'retry-after': '1' }, body: '' };
