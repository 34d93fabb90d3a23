import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { closedPort } from '../../../scripts/free-port.mjs';
import { MAYA, TOMAS, tokenFor, userOf } from '../../sandbox/requests.ts';
import { type HintCase, hintCases } from './hint-cases.ts';
import {
  type Browser,
  fault,
  logIn,
  personAt,
  redirectsWith,
  revokeInPanel,
  setupAnswers,
  type World,
  writeProfile,
} from './world.ts';

const login = 'cloudctl auth login';
const ports = await Promise.all([1, 2, 3, 4, 5].map(() => closedPort()));
const teamOf = ({ sandbox }: World): string => userOf(sandbox, TOMAS).teams[0]?.uuid ?? '';
const hintOf = ({ sandbox }: World, email: string): string => userOf(sandbox, email).uuid.slice(0, 6);

/** At the first page this, afterwards that. */
function firstThen(first: Browser, then: Browser = personAt()): (world: World) => void {
  return (world) => {
    world.browser = async (at, url) => {
      world.browser = then;
      await first(at, url);
    };
  };
}

/** The page grants another scope than the login has asked for. */
const grantsOnly =
  (scope: string): Browser =>
  (world, url) => {
    const changed = new URL(url);
    changed.searchParams.set('scope', scope);
    return personAt()(world, changed.href);
  };

/** Another program listens on the port of the callback URL. */
async function occupy(world: World, port = Number(new URL(world.sandbox.ready.callback_url).port)): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  world.later(() => server.close());
}

/** A server of another kind: its token endpoint takes client credentials only in the Authorization header, or in a body. */
async function useStandardServer(world: World, refusal: string, body = false): Promise<void> {
  const { sandbox } = world;
  const { client_id, client_secret } = sandbox.ready;
  const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  const server = createHttp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    if (pathname === '/v1/oauth/authorize') {
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'a-code');
      back.searchParams.set('state', searchParams.get('state') ?? '');
      response.writeHead(302, { location: back.href }).end();
    } else if (
      request.headers.authorization !== basic &&
      (!body || Number(request.headers['content-length'] ?? 0) === 0)
    ) {
      response.writeHead(401, { 'content-type': 'application/json' }).end(JSON.stringify({ error: refusal }));
    } else {
      void tokenFor(sandbox).then(({ info: _account, ...grant }) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(grant)),
      );
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  world.later(() => server.close());
  const { port } = server.address() as AddressInfo;
  const auth_url = `http://127.0.0.1:${port}`;
  writeProfile(world, 'default', { auth_url });
  world.env.CLOUDCTL_CLIENT_SECRET = client_secret;
  world.browser = async (_world, url) => {
    const answer = await fetch(url, { redirect: 'manual' });
    await redirectsWith({ code: 'a-code', state: 'STATE' })(world, url);
    await answer.body?.cancel();
  };
  await logIn(world, { record: { authOrigin: auth_url, accountUuid: undefined, team: undefined }, isUnnamed: true });
}

const cases: readonly HintCase[] = [
  {
    name: 'consent is denied',
    line: login,
    from: ['src/auth/session/grant.ts'],
    given: firstThen(personAt(MAYA, { decision: 'deny' })),
  },
  {
    name: 'the state is of another login',
    line: login,
    given: firstThen(redirectsWith({ code: 'a-code', state: 'another-state' })),
  },
  {
    name: 'a code and an error at once',
    line: login,
    from: ['src/auth/session/grant.ts'],
    given: firstThen(redirectsWith({ code: 'a-code', error: 'access_denied', state: 'STATE' })),
  },
  {
    name: 'the code is not accepted',
    line: login,
    given: firstThen(redirectsWith({ code: 'a-code', state: 'STATE' })),
  },
  {
    name: 'nobody comes back in time',
    line: `${login} --login-timeout 1s`,
    given: firstThen(async () => undefined),
    pick: [0],
    isInstead: true,
  },
  {
    name: 'a login without a page, and nobody is signed in',
    line: `${login} --prompt none`,
    given: firstThen(redirectsWith({ error: 'login_required', state: 'STATE' })),
    isInstead: true,
  },
  {
    name: 'a login without a page, and nobody has consented',
    line: `${login} --prompt none --scope "read write"`,
    given: (world) => revokeInPanel(world),
    isInstead: true,
  },
  {
    name: 'the server asks for a page although one was asked for',
    line: login,
    given: firstThen(redirectsWith({ error: 'consent_required', state: 'STATE' })),
  },
  {
    name: 'the server does not allow the flow',
    line: login,
    given: firstThen(redirectsWith({ error: 'unsupported_response_type', state: 'STATE' })),
    isInstead: true,
  },
  {
    name: 'the authorization server says that it failed',
    line: login,
    from: ['src/auth/session/grant.ts'],
    given: firstThen(redirectsWith({ error: 'temporarily_unavailable', state: 'STATE' })),
  },
  {
    name: 'an answer of the implicit flow that cannot be read',
    line: `${login} --flow implicit`,
    given: firstThen(redirectsWith({ state: 'STATE', access_token: 'in-the-wrong-place' })),
    pick: [1],
    isInstead: true,
  },
  {
    name: 'the browser is signed in to another account',
    line: `${login} --account-hint "$HINT"`,
    given: (world) => {
      world.env.HINT = hintOf(world, TOMAS);
      firstThen(personAt(MAYA), personAt(TOMAS))(world);
    },
  },
  {
    name: 'another team was chosen',
    line: `${login} --team "$TEAM"`,
    given: (world) => {
      world.env.TEAM = teamOf(world);
      const fields = { decision: 'approve', account: teamOf(world) };
      firstThen(personAt(TOMAS), personAt(TOMAS, fields))(world);
    },
  },
  {
    name: 'another team was granted without a page',
    line: `${login} --prompt none --team "$TEAM"`,
    given: async (world) => {
      world.env.TEAM = teamOf(world);
      world.browser = personAt(TOMAS);
      await world.shell(login);
      const fields = { decision: 'approve', account: teamOf(world) };
      firstThen(personAt(TOMAS), personAt(TOMAS, fields))(world);
    },
    isInstead: true,
  },
  {
    name: 'a smaller scope was granted',
    line: `${login} --scope "read write"`,
    given: (world) => {
      world.browser = grantsOnly('read');
    },
    isInstead: true,
  },
  {
    name: 'the port is in use, and the application has another callback URL',
    line: login,
    world: { callbackUrls: [`http://127.0.0.1:${ports[0]}/callback`, `http://127.0.0.1:${ports[1]}/callback`] },
    given: (world) => occupy(world),
    fill: () => ({ PORT: String(ports[1]) }),
  },
  {
    name: 'the port of --callback-listen is in use',
    line: `${login} --callback-listen "127.0.0.1:$PORT" --allow-peer 127.0.0.1/32`,
    world: { callbackUrls: [`http://127.0.0.1:${ports[2]}/callback`] },
    given: async (world) => {
      await occupy(world, ports[3]);
      world.env.PORT = String(ports[3]);
    },
    person: async (world) => {
      world.env.PORT = String(ports[4]);
      const forwarder = createServer((socket) => {
        const onward = connect(ports[4] ?? 0, '127.0.0.1');
        for (const end of [socket, onward]) end.on('error', () => undefined);
        socket.pipe(onward).pipe(socket);
      });
      await new Promise<void>((resolve) => forwarder.listen(ports[2], '127.0.0.1', resolve));
      world.later(() => forwarder.close());
    },
  },
  {
    name: 'no callback URL',
    line: login,
    given: (world) => writeProfile(world, 'default', { callback_urls: undefined }),
    answers: setupAnswers,
  },
  {
    name: 'the client secret is wrong',
    line: login,
    given: (world) => {
      world.env.CLOUDCTL_CLIENT_SECRET = 'wrong-secret-wrong-secret';
    },
    answers: setupAnswers,
    afterwards: (world) => {
      world.env.CLOUDCTL_CLIENT_SECRET = undefined;
    },
  },
  {
    name: 'the authorization server fails at the exchange',
    line: login,
    given: (world) =>
      fault(world, { match: { method: 'POST', path: '/v1/oauth/token' }, action: 'status', status: 503, times: 1 }),
  },
  {
    name: 'the answer to the exchange is no grant',
    line: login,
    given: (world) =>
      fault(world, { match: { method: 'POST', path: '/v1/oauth/token' }, action: 'bad_json', times: 1 }),
    pick: [1],
    isInstead: true,
  },
  {
    name: 'a server of another kind misses the credentials at a login',
    line: login,
    given: (world) => useStandardServer(world, 'invalid_client', true),
    pick: [1, 2],
    isInstead: true,
    commandEnds: 0,
  },
  {
    name: 'a server of another kind misses the credentials in the header at a login',
    line: login,
    given: async (world) => {
      await useStandardServer(world, 'invalid_client');
      await world.shell('cloudctl config set token_params body');
    },
    pick: [1, 2],
    isInstead: true,
  },
  {
    name: 'a server of another kind misses the parameters at a login',
    line: login,
    given: (world) => useStandardServer(world, 'invalid_request', true),
    pick: [0, 1],
    isInstead: true,
  },
  {
    name: 'a server of another kind refuses a refresh token without credentials',
    line: 'cloudctl auth refresh',
    given: (world) => useStandardServer(world, 'invalid_grant', true),
    pick: [0, 1],
  },
  {
    name: 'another login of the profile is in progress',
    line: login,
    given: async (world) => {
      const first = world.start(`${login} --no-browser`);
      await first.waitFor('stderr', /authorize/);
      world.later(() => first.kill('SIGKILL'));
      world.env.FIRST = String(first.pid);
    },
    person: (world) => world.shell('kill -INT "$FIRST"; sleep 1'),
  },
  {
    name: 'auth_url is of another server',
    line: login,
    from: ['src/auth/session/errors.ts'],
    given: async (world) => {
      const server = createHttp((_request, response) =>
        response.writeHead(404, { 'content-type': 'text/html' }).end('<title>Not found</title>'),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      world.later(() => server.close());
      writeProfile(world, 'default', { auth_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
      world.env.CLOUDCTL_CLIENT_SECRET = world.sandbox.ready.client_secret;
      await logIn(world, { isUnnamed: true });
      world.browser = redirectsWith({ code: 'a-code', state: 'STATE' });
    },
    person: (world) => {
      writeProfile(world, 'default');
      world.browser = personAt();
    },
  },
  {
    name: 'the authorization server is gone at the exchange',
    line: login,
    given: async (world) => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      writeProfile(world, 'default', { auth_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
      world.env.CLOUDCTL_CLIENT_SECRET = world.sandbox.ready.client_secret;
      const redirect = redirectsWith({ code: 'a-code', state: 'STATE' });
      world.browser = (...page) => {
        server.close();
        return redirect(...page);
      };
    },
    person: (world) => {
      writeProfile(world, 'default');
      world.browser = personAt();
    },
  },
  {
    name: 'the authorization server is not there',
    from: ['src/auth/session/hints.ts'],
    line: login,
    given: async (world) => {
      writeProfile(world, 'default', { auth_url: `http://127.0.0.1:${await closedPort()}` });
      world.env.CLOUDCTL_CLIENT_SECRET = world.sandbox.ready.client_secret;
      world.browser = async () => undefined;
    },
    afterwards: (world) => {
      writeProfile(world, 'default');
      world.browser = personAt();
    },
  },
];

hintCases('login', cases);
