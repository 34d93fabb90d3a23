import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { closedPort } from '../../../scripts/free-port.mjs';
import { journalPath, profilePaths } from '../../../src/auth/session/paths.ts';
import { Secret } from '../../../src/base/secret.ts';
import { admin, TOMAS, tokenFor, userOf } from '../../sandbox/requests.ts';
import { type HintCase, hintCases } from './hint-cases.ts';
import {
  credentialFile,
  fault,
  isRoot,
  logIn,
  personAt,
  revokeAtEndpoint,
  revokeInPanel,
  setupAnswers,
  type World,
  writeConfig,
  writeProfile,
} from './world.ts';

const list = 'cloudctl droplets list';
const expired = { expiresAt: 1 };
const noSession = (world: World): void => rmSync(credentialFile(world));
const noFaults = ({ sandbox }: World): Promise<unknown> => admin(sandbox, 'DELETE', '/_sandbox/faults');
const teamOf = ({ sandbox }: World): string => userOf(sandbox, TOMAS).teams[0]?.uuid ?? '';

const givenToken = async ({ sandbox }: World) => ({ stdin: (await tokenFor(sandbox)).access_token });

/** Sessions: missing, ended, refused, of others, damaged. */
const sessions: readonly HintCase[] = [
  { name: 'nobody is logged in', line: list, given: noSession },
  {
    name: 'nobody is logged in, and the profile holds tokens only',
    line: list,
    given: (world) => {
      writeProfile(world, 'default', { client_id: undefined, callback_urls: undefined });
      noSession(world);
    },
    answers: givenToken,
  },
  {
    name: 'there is no profile at all',
    line: list,
    world: { isEmpty: true },
    answers: setupAnswers,
    steps: 2,
  },
  {
    name: 'the profile is incomplete',
    line: list,
    given: (world) => writeProfile(world, 'default', { client_id: undefined, base_url: undefined }),
    answers: setupAnswers,
  },
  {
    name: 'the profile is incomplete, and another one is logged in',
    line: list,
    given: async (world) => {
      writeConfig(world, { current: 'default', profiles: { default: {} } });
      writeProfile(world, 'work');
      await logIn(world, { profile: 'work' });
    },
    pick: [0],
  },
  {
    name: 'the profile is incomplete, and two others are logged in',
    line: list,
    given: async (world) => {
      writeConfig(world, { current: 'default', profiles: { default: {} } });
      for (const profile of ['home', 'work']) {
        writeProfile(world, profile);
        await logIn(world, { profile });
      }
    },
    person: () => `${list} --profile work`,
  },
  {
    name: 'the profile that an option names is unknown',
    line: `${list} --profile wrok`,
    answers: setupAnswers,
    steps: 2,
  },
  {
    name: 'the profile that a variable names is unknown',
    line: 'cloudctl auth token',
    given: (world) => {
      world.env.CLOUDCTL_PROFILE = 'wrok';
    },
    answers: setupAnswers,
    steps: 2,
  },
  {
    name: 'auth switch to an unknown profile',
    line: 'cloudctl auth switch wrok',
    person: async (world, hint) => {
      const { stdout } = await world.shell(commandIn(hint));
      return `cloudctl auth switch ${/\bdefault\b/.exec(stdout)}`;
    },
  },
  {
    name: 'auth switch to a misspelled profile',
    line: 'cloudctl auth switch defualt',
    isInstead: true,
  },
  {
    name: 'an option names a misspelled profile',
    line: `${list} --profile defualt`,
    person: () => `${list} --profile default`,
  },
  {
    name: 'auth switch without any profile',
    line: 'cloudctl auth switch work',
    world: { isEmpty: true },
    answers: setupAnswers,
  },
  {
    name: 'the session has expired, and nothing can renew it',
    line: list,
    given: (world) => logIn(world, { record: { ...expired, refreshToken: undefined } }),
  },
  {
    name: 'the session of a team has expired',
    line: list,
    given: async (world) => {
      await logIn(world, { user: TOMAS, team: teamOf(world), record: { ...expired, refreshToken: undefined } });
      world.browser = personAt(TOMAS, { decision: 'approve', account: teamOf(world) });
    },
  },
  {
    name: 'the application was revoked in the panel',
    line: list,
    given: (world) => revokeInPanel(world),
  },
  {
    name: 'the application was revoked in the panel, and the access token has expired',
    line: 'cloudctl auth token',
    given: async (world) => {
      await logIn(world, { record: expired });
      await revokeInPanel(world);
    },
  },
  {
    name: 'the token was revoked at the endpoint',
    line: list,
    given: async (world) => {
      const { accessToken } = await logIn(world);
      await revokeAtEndpoint(world, accessToken.reveal());
    },
  },
  {
    name: 'the token was revoked at the endpoint, and a refresh was refused before',
    line: list,
    given: async (world) => {
      const { accessToken } = await logIn(world);
      await revokeAtEndpoint(world, accessToken.reveal());
      await world.shell(list);
    },
  },
  {
    name: 'auth status --check of a revoked application',
    line: 'cloudctl auth status --check',
    given: (world) => revokeInPanel(world),
  },
  {
    name: 'the refresh token is refused',
    line: list,
    given: (world) => logIn(world, { record: { ...expired, refreshToken: new Secret('refused-refresh-token') } }),
  },
  {
    name: 'auth refresh of a session that cannot be renewed',
    line: 'cloudctl auth refresh',
    given: (world) => logIn(world, { record: { refreshToken: undefined } }),
  },
  {
    name: 'auth refresh of a session whose refresh token was refused',
    line: 'cloudctl auth refresh',
    given: (world) => logIn(world, { record: { refreshToken: undefined, isRefused: true } }),
  },
  {
    name: 'auth refresh of a given token',
    line: 'cloudctl auth status --check',
    given: (world) =>
      logIn(world, {
        flow: 'token',
        record: { refreshToken: undefined, isGivenToken: true, accessToken: new Secret('an-access-token-of-nobody') },
      }),
    answers: givenToken,
  },
  {
    name: 'a grant of another account answered the refresh',
    line: list,
    given: (world) =>
      logIn(world, {
        record: {
          ...expired,
          otherGrant: { accountUuid: userOf(world.sandbox, TOMAS).uuid, team: 'personal', isRevoked: true },
        },
      }),
  },
  {
    name: 'the session belongs to other servers than the profile names now',
    line: list,
    given: (world) => logIn(world, { record: { authOrigin: 'https://cloud.example.com' } }),
  },
  {
    name: 'the session belongs to other servers than a variable names',
    line: list,
    given: (world) => {
      world.env.CLOUDCTL_AUTH_URL = 'https://cloud.example.com';
    },
  },
  {
    name: 'the session belongs to other servers than an option names',
    line: `${list} --base-url https://api.example.com`,
  },
  {
    name: 'the stored session is damaged',
    line: list,
    given: (world) => writeFileSync(credentialFile(world), '{"v":1,"access_token":'),
  },
  {
    name: 'auth status of a damaged session',
    line: 'cloudctl auth status',
    given: (world) => writeFileSync(credentialFile(world), 'no record'),
  },
  ...(['credential', 'journal'] as const).flatMap((what): readonly HintCase[] => {
    const spoiled = (spoil: (path: string) => void) => async (world: World) => {
      const { sid } = await logIn(world);
      const place = profilePaths(world.folders.state, 'default');
      const path = what === 'credential' ? place.credentialFile : journalPath(place, sid);
      rmSync(path, { force: true });
      spoil(path);
    };
    const from = ['src/platform/secret-file.ts'];
    const steps = what === 'credential' ? 2 : 1;
    const line = what === 'credential' ? list : 'cloudctl auth refresh';
    return [
      { name: `the file of the ${what} is a folder`, from, line, steps, given: spoiled((path) => mkdirSync(path)) },
      {
        name: `the file of the ${what} is a named pipe`,
        from,
        line,
        steps,
        given: spoiled((path) => execFileSync('mkfifo', ['-m', '600', path])),
      },
      {
        name: `the file of the ${what} is a link`,
        line,
        steps,
        given: spoiled((path) => symlinkSync('/dev/null', path)),
      },
      {
        name: `the file of the ${what} can be read by others`,
        line,
        steps,
        given: spoiled((path) => writeFileSync(path, '', { mode: 0o644 })),
      },
      ...(isRoot
        ? [
            {
              name: `the file of the ${what} belongs to another user`,
              line,
              steps,
              given: spoiled((path) => {
                writeFileSync(path, '', { mode: 0o600 });
                chownSync(path, 54_321, 54_321);
              }),
            },
          ]
        : []),
    ];
  }),
  {
    name: 'the scope is too small for a write',
    line: 'cloudctl droplets create web-1 --size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3',
    given: (world) => logIn(world, { scope: 'read' }),
  },
  {
    name: 'the server forbids a read',
    line: list,
    given: (world) => fault(world, { match: { method: 'GET', path: '/v2/droplets' }, action: 'status', status: 403 }),
  },
  {
    name: 'the server refuses a token that was just renewed',
    line: list,
    given: (world) =>
      fault(world, { match: { method: 'GET', path: '/v2/droplets' }, action: 'status', status: 401, times: 3 }),
  },
  {
    name: 'the authorization server fails at a refresh',
    from: ['src/auth/session/errors.ts'],
    line: 'cloudctl auth refresh',
    given: (world) =>
      fault(world, { match: { method: 'POST', path: '/v1/oauth/token' }, action: 'status', status: 503, times: 5 }),
    person: noFaults,
  },
  {
    name: 'the answer to a refresh is no grant',
    from: ['src/auth/session/errors.ts'],
    line: 'cloudctl auth refresh',
    given: (world) =>
      fault(world, { match: { method: 'POST', path: '/v1/oauth/token' }, action: 'redirect_307', times: 9 }),
    person: noFaults,
  },
  {
    name: 'the authorization server is not there at a refresh',
    from: ['src/auth/session/errors.ts'],
    line: 'cloudctl auth refresh',
    given: async (world) => {
      const port = await closedPort();
      const auth_url = `http://127.0.0.1:${port}`;
      writeProfile(world, 'default', { auth_url });
      await logIn(world, { record: { authOrigin: auth_url } });
      world.env.PORT = String(port);
    },
    person: async (world) => {
      const server = createServer((_request, response) => {
        void tokenFor(world.sandbox).then((grant) =>
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(grant)),
        );
      });
      await new Promise<void>((resolve) => server.listen(Number(world.env.PORT), '127.0.0.1', resolve));
      world.later(() => server.close());
    },
  },
  {
    name: 'the authorization server limits refreshes',
    from: ['src/auth/session/errors.ts'],
    line: 'cloudctl auth refresh',
    given: (world) =>
      fault(world, { match: { method: 'POST', path: '/v1/oauth/token' }, action: 'status', status: 429, times: 5 }),
    person: noFaults,
  },
];

function commandIn(hint: string): string {
  return /`([^`]*)`/.exec(hint)?.[1] ?? '';
}

hintCases('auth', sessions);
