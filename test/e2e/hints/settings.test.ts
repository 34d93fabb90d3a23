import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttp, request as requestHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { closedPort } from '../../../scripts/free-port.mjs';
import { lacks, which } from '../../fixtures/needs.ts';
import { startSecretService } from '../../fixtures/secret-service.ts';
import { makeCertificates } from '../../platform/certificates.ts';
import { tokenFor } from '../../sandbox/requests.ts';
import { type HintCase, hintCases } from './hint-cases.ts';
import {
  becomeOrdinaryUser,
  credentialFile,
  isRoot,
  logIn,
  setupAnswers,
  type World,
  writeConfig,
  writeProfile,
} from './world.ts';

const list = 'cloudctl droplets list';
const doctor = 'cloudctl doctor -o json';
/** With standard error on a terminal. */
const onTerminal = 'script -qec "cloudctl doctor -o json > out.json" /dev/null > /dev/null; cat out.json';
const configFile = ({ folders }: World): string => join(folders.config, 'config.json');
const set = (name: string, value: string) => (world: World) => {
  world.env[name] = value;
};

async function listen(world: World, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  world.later(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A folder with what a test needs, in which nothing opens a browser. */
function onlyTools(world: World, path: string): string {
  const folder = join(world.folders.home, 'tools');
  mkdirSync(folder);
  for (const tool of ['sh', 'script', 'cat', 'env']) symlinkSync(which(tool) ?? '', join(folder, tool));
  return `${path.split(':')[0]}:${folder}`;
}

/** The API behind a certificate of an authority that only the file `ca.pem` names. */
async function useUnknownAuthority(world: World, name = 'localhost'): Promise<number> {
  const { ca, key, cert, elsewhere } = makeCertificates();
  writeFileSync(join(world.cwd, 'ca.pem'), ca);
  const { hostname, port } = new URL(world.sandbox.ready.base_url);
  const front = createHttps({ key, cert: name === 'localhost' ? cert : elsewhere }, (request, response) => {
    const { method, url, headers } = request;
    const onward = requestHttp({
      hostname,
      port,
      method,
      path: url,
      headers: { ...headers, host: `${hostname}:${port}` },
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  const behind = await listen(world, front);
  const base_url = `https://${name}:${behind}`;
  writeProfile(world, 'default', { base_url });
  await logIn(world, { record: { baseOrigin: base_url } });
  return behind;
}

/** A proxy that demands credentials with this challenge, and opens tunnels for `user:pass`. */
async function useProxy(world: World, challenge: string, credentials = ''): Promise<number> {
  const behind = await useUnknownAuthority(world, 'elsewhere.example');
  world.env.SSL_CERT_FILE = join(world.cwd, 'ca.pem');
  const proxy = createHttp().on('connect', (request: { headers: { [name: string]: unknown } }, client: Socket) => {
    client.on('error', () => undefined);
    const wanted = `Basic ${Buffer.from('user:pass').toString('base64')}`;
    if (challenge !== '' && request.headers['proxy-authorization'] !== wanted) {
      client.end(`HTTP/1.1 407 Denied\r\nProxy-Authenticate: ${challenge}\r\n\r\n`);
      return;
    }
    const upstream = connect(behind, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    upstream.on('error', () => client.destroy());
    upstream.pipe(client).pipe(upstream);
  });
  const port = await listen(world, proxy);
  world.env.HTTPS_PROXY = `http://${credentials}127.0.0.1:${port}`;
  return port;
}

const damaged = (name: string, text: string, corrected?: string): HintCase => ({
  name: `config.json ${name}`,
  line: 'cloudctl config list',
  from: ['src/config/damaged-config-error.ts'],
  given: (world) => writeConfig(world, text),
  ...(corrected === undefined ? {} : { person: (world) => writeConfig(world, corrected) }),
});

const profile = '{"profiles":{"work":{"auth_url":"https://cloud.example.com"}}}';

const cases: readonly HintCase[] = [
  damaged('contains NUL bytes', '\0'.repeat(100)),
  damaged('is text in UTF-16', '\uFEFF{}'.split('').join('\0')),
  damaged('lacks a comma', '{\n "current": "work"\n "profiles": {}\n}', profile),
  damaged('has a comment', '{ // mine\n "profiles": {} }', profile),
  damaged('is no object', '[]', profile),
  damaged('has a wrong value', profile.replace('https:', 'http:'), profile),
  {
    name: 'config.json is a folder',
    from: ['src/config/damaged-config-error.ts'],
    line: list,
    given: (world) => {
      rmSync(configFile(world));
      mkdirSync(configFile(world));
    },
    commandEnds: 0,
    ends: 4,
  },
  {
    name: 'config.json is a named pipe',
    from: ['src/config/damaged-config-error.ts'],
    line: 'cloudctl config list',
    given: (world) => {
      rmSync(configFile(world));
      execFileSync('mkfifo', [configFile(world)]);
    },
  },
  {
    name: 'config.json is a link to a file that is not there',
    from: ['src/config/damaged-config-error.ts'],
    line: 'cloudctl config list',
    given: (world) => {
      rmSync(configFile(world));
      symlinkSync('/nowhere/config.json', configFile(world));
    },
  },
  {
    name: 'config.json cannot be read',
    from: ['src/platform/own-folder.ts'],
    line: 'cloudctl config list',
    given: (world) => {
      chmodSync(configFile(world), 0o000);
      becomeOrdinaryUser(world);
    },
  },
  {
    name: 'the config folder cannot be entered',
    line: 'cloudctl config list',
    given: (world) => {
      becomeOrdinaryUser(world);
      chmodSync(world.folders.config, 0o000);
    },
  },
  {
    name: 'the config folder cannot be written',
    line: 'cloudctl config set scope read',
    given: (world) => {
      becomeOrdinaryUser(world);
      chmodSync(world.folders.config, 0o500);
    },
  },
  {
    name: 'other users can write to the state folder',
    line: list,
    given: ({ folders }) => chmodSync(folders.state, 0o777),
  },
  {
    name: 'other users can write to a parent of the state folder',
    line: list,
    given: ({ folders }) => chmodSync(folders.home, 0o777),
  },
  {
    name: 'other users can write to the config folder',
    line: list,
    given: ({ folders }) => chmodSync(folders.config, 0o777),
  },
  ...(isRoot
    ? [
        {
          name: 'the state folder belongs to another user',
          line: 'cloudctl auth status',
          given: ({ folders }: World) => chownSync(folders.state, 54_322, 54_322),
          person: (world: World) =>
            world.shell('export CLOUDCTL_CONFIG_DIR="$HOME/mine/config" CLOUDCTL_STATE_DIR="$HOME/mine/state"'),
          ends: 4,
        },
        {
          name: 'other users can write to a parent of the state folder that is not of the user',
          line: 'cloudctl auth status',
          given: (world: World) => {
            becomeOrdinaryUser(world);
            const shared = join(world.folders.home, 'shared');
            mkdirSync(shared);
            chmodSync(shared, 0o777);
            world.env.CLOUDCTL_STATE_DIR = join(shared, 'state');
          },
          person: (world: World) =>
            world.shell('export CLOUDCTL_CONFIG_DIR="$HOME/config" CLOUDCTL_STATE_DIR="$HOME/state"'),
        },
        {
          name: 'there is no home folder',
          line: 'cloudctl config set scope read',
          world: { isEmpty: true },
          given: (world: World) => {
            becomeOrdinaryUser(world);
            for (const name of ['HOME', 'CLOUDCTL_CONFIG_DIR', 'CLOUDCTL_STATE_DIR']) world.env[name] = undefined;
          },
          person: ({ env, folders }: World) => {
            env.HOME = folders.home;
          },
        },
      ]
    : []),
  {
    name: 'the folder of sessions cannot be written',
    line: 'cloudctl auth refresh',
    given: (world) => {
      becomeOrdinaryUser(world);
      chmodSync(join(world.folders.state, 'sessions'), 0o500);
    },
  },
  {
    name: 'the folder of sessions cannot be written at a login',
    line: 'cloudctl auth login',
    given: (world) => {
      becomeOrdinaryUser(world);
      chmodSync(join(world.folders.state, 'sessions'), 0o500);
    },
  },
  {
    name: 'the folder of sessions cannot be entered',
    line: list,
    given: (world) => {
      becomeOrdinaryUser(world);
      chmodSync(join(world.folders.state, 'sessions'), 0o000);
    },
  },
  { name: 'NODE_DEBUG prints secrets', line: list, given: set('NODE_DEBUG', 'http') },
  { name: 'certificates are not verified', line: list, given: set('NODE_TLS_REJECT_UNAUTHORIZED', '0') },
  {
    name: 'CLOUDCTL_ACCESS_TOKEN is refused',
    from: ['src/auth/session/provider.ts'],
    line: list,
    given: set('CLOUDCTL_ACCESS_TOKEN', 'an-access-token-of-nobody'),
  },
  {
    name: 'CLOUDCTL_ACCESS_TOKEN is no token',
    line: list,
    given: set('CLOUDCTL_ACCESS_TOKEN', 'two words'),
  },
  {
    name: 'CLOUDCTL_ACCESS_TOKEN is set, and a session is to be refreshed',
    line: 'cloudctl auth refresh',
    given: set('CLOUDCTL_ACCESS_TOKEN', 'an-access-token-of-nobody'),
    warning: /CLOUDCTL_ACCESS_TOKEN/,
    pick: [1],
  },
  {
    name: 'CLOUDCTL_ACCESS_TOKEN has too small a scope',
    from: ['src/auth/session/hints.ts'],
    line: 'cloudctl droplets create web-1 --size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3',
    given: async (world) => {
      world.env.CLOUDCTL_ACCESS_TOKEN = (await tokenFor(world.sandbox, { scope: 'read' })).access_token;
    },
    person: async (world) => {
      world.env.CLOUDCTL_ACCESS_TOKEN = (await tokenFor(world.sandbox, { scope: 'read write' })).access_token;
    },
  },
  {
    name: 'a variable has a bad value',
    line: list,
    given: set('CLOUDCTL_CREDENTIAL_STORE', 'drawer'),
    person: (world, hint) => world.shell(`export ${/`([^`]*)`/.exec(hint)?.[1]}`),
    ends: 1,
  },
  {
    name: 'an option has a bad value',
    line: `${list} --base-url api.example.com`,
    person: ({ sandbox }) => `${list} --base-url ${sandbox.ready.base_url}`,
  },
  {
    name: 'a profile name that cannot be one',
    line: `${list} --profile ../x`,
    given: async (world) => {
      writeProfile(world, 'work');
      await logIn(world, { profile: 'work' });
    },
  },
  {
    name: 'this machine has no keychain',
    line: list,
    given: (world) => writeProfile(world, 'default', { credential_store: undefined }),
  },
  {
    name: 'this machine has no keychain, and there is no profile',
    line: 'cloudctl auth setup --auth-url "$AUTH" --base-url "$BASE" --client-id me --callback-url http://127.0.0.1:0/callback --client-secret-stdin',
    stdin: 'client-secret\n',
    world: { isEmpty: true },
    given: (world) => {
      Object.assign(world.env, { AUTH: world.sandbox.ready.auth_url, BASE: world.sandbox.ready.base_url });
    },
  },
  {
    name: 'the API is not there',
    from: ['src/auth/session/hints.ts'],
    line: list,
    given: async (world) => {
      const base_url = `http://127.0.0.1:${await closedPort()}`;
      writeProfile(world, 'default', { base_url });
      await logIn(world, { record: { baseOrigin: base_url } });
    },
    afterwards: async (world) => {
      writeProfile(world, 'default');
      await logIn(world);
    },
  },
  {
    name: 'the sandbox is not there',
    from: ['src/auth/session/hints.ts'],
    line: `${list} --profile sandbox`,
    given: async (world) => {
      const base_url = `http://127.0.0.1:${await closedPort()}`;
      writeProfile(world, 'sandbox', { base_url });
      await logIn(world, { profile: 'sandbox', record: { baseOrigin: base_url } });
    },
    steps: 2,
  },
  {
    name: 'the API answers plainly where TLS is expected',
    line: list,
    given: async (world) => {
      const base_url = world.sandbox.ready.base_url.replace('http:', 'https:');
      writeProfile(world, 'default', { base_url });
      await logIn(world, { record: { baseOrigin: base_url } });
    },
    person: async (world) => {
      writeProfile(world, 'default');
      await logIn(world);
    },
  },
  {
    name: 'a certificate that nobody vouches for',
    line: list,
    given: useUnknownAuthority,
    person: (world) => world.shell('export SSL_CERT_FILE="$PWD/ca.pem"'),
  },
  {
    name: 'SSL_CERT_FILE is in DER form',
    line: list,
    given: async (world) => {
      await useUnknownAuthority(world);
      await world.shell('openssl x509 -in ca.pem -outform der -out ca.der && export SSL_CERT_FILE="$PWD/ca.der"');
    },
    pick: [0, 1],
  },
  {
    name: 'SSL_CERT_FILE is not there',
    line: list,
    given: async (world) => {
      await useUnknownAuthority(world);
      world.env.SSL_CERT_FILE = '/nowhere/ca.pem';
      world.env.NODE_EXTRA_CA_CERTS = join(world.cwd, 'ca.pem');
    },
  },
  {
    name: 'the proxy has another protocol',
    line: list,
    given: async (world) => {
      await useProxy(world, '');
      world.env.HTTPS_PROXY = 'socks5://127.0.0.1:1080';
    },
    person: async (world) => void (await useProxy(world, '')),
  },
  {
    name: 'the proxy is no URL',
    line: list,
    given: async (world) => {
      await useProxy(world, '');
      world.env.HTTPS_PROXY = 'http://proxy host:80';
    },
    person: async (world) => void (await useProxy(world, '')),
  },
  {
    name: 'the credentials of the proxy are not encoded',
    line: list,
    given: (world) => useProxy(world, 'Basic realm="x"', 'us er:p@ss@'),
    person: (world) => {
      world.env.HTTPS_PROXY = world.env.HTTPS_PROXY?.replace('us er:p@ss', 'user:pass');
    },
  },
  {
    name: 'the proxy demands credentials',
    line: list,
    given: (world) => useProxy(world, 'Basic realm="x"'),
    person: (world, hint) => {
      const url = /http:\S+/.exec(hint)?.[0] ?? '';
      world.env.HTTPS_PROXY = url.replace('USER:PASSWORD', 'user:pass').replace(/[;,]$/, '');
    },
  },
  {
    name: 'the proxy refuses the credentials',
    line: list,
    given: (world) => useProxy(world, 'Basic realm="x"', 'user:wrong@'),
    person: (world) => {
      world.env.HTTPS_PROXY = world.env.HTTPS_PROXY?.replace('wrong', 'pass');
    },
  },
  {
    name: 'the proxy demands a login of another kind',
    line: list,
    given: (world) => useProxy(world, 'NTLM'),
    person: async (world) => void (await useProxy(world, '')),
  },
  {
    name: 'the proxy is not there',
    line: list,
    given: async (world) => {
      await useProxy(world, '');
      world.env.HTTPS_PROXY = `http://127.0.0.1:${await closedPort()}`;
    },
    person: async (world) => void (await useProxy(world, '')),
  },
];

const findings: readonly HintCase[] = [
  {
    name: 'doctor: NODE_DEBUG',
    from: ['src/auth/doctor/browser.ts'],
    line: doctor,
    finding: 'environment',
    given: set('NODE_DEBUG', 'net'),
  },
  {
    name: 'doctor: another program called cloudctl on PATH',
    from: ['src/auth/doctor/browser.ts'],
    line: doctor,
    finding: 'path',
    given: (world) => {
      const folder = join(world.folders.home, 'other');
      mkdirSync(folder);
      writeFileSync(join(folder, 'cloudctl'), '#!/bin/sh\n', { mode: 0o755 });
      world.env.PATH = `${world.env.PATH}:${folder}`;
    },
    afterwards: ({ folders }) => rmSync(join(folders.home, 'other/cloudctl')),
  },
  {
    name: 'doctor: a relative entry of PATH',
    from: ['src/auth/doctor/browser.ts'],
    line: doctor,
    finding: 'path',
    given: ({ env }) => {
      env.PATH = `node_modules/.bin:${env.PATH}`;
    },
    afterwards: ({ env }) => {
      env.PATH = env.PATH?.replace('node_modules/.bin:', '');
    },
  },
  {
    name: 'doctor: CLOUDCTL_ACCESS_TOKEN',
    line: doctor,
    finding: 'access-token',
    given: set('CLOUDCTL_ACCESS_TOKEN', 'an-access-token'),
  },
  {
    name: 'doctor: a bad variable',
    line: doctor,
    finding: 'CLOUDCTL_BASE_URL',
    given: set('CLOUDCTL_BASE_URL', 'nowhere'),
  },
  {
    name: 'doctor: a profile name that cannot be one',
    line: doctor,
    finding: 'CLOUDCTL_PROFILE',
    from: ['src/auth/doctor/profile.ts'],
    given: set('CLOUDCTL_PROFILE', '../x'),
  },
  {
    name: 'doctor: an incomplete profile',
    line: doctor,
    finding: 'profile',
    given: (world) => writeProfile(world, 'default', { client_id: undefined }),
    answers: setupAnswers,
  },
  {
    name: 'doctor: an unknown profile',
    line: doctor,
    finding: 'profile',
    given: set('CLOUDCTL_PROFILE', 'wrok'),
    answers: setupAnswers,
  },
  {
    name: 'doctor: no client secret',
    line: doctor,
    finding: 'client-secret',
    given: (world) => rmSync(credentialFile(world).replace('credential', 'client')),
    answers: setupAnswers,
  },
  {
    name: 'doctor: no keychain',
    from: ['src/auth/doctor/stores.ts'],
    line: doctor,
    finding: 'keychain',
    given: (world) => writeProfile(world, 'default', { credential_store: undefined }),
  },
  { name: 'doctor: not logged in', line: doctor, finding: 'session', given: (world) => rmSync(credentialFile(world)) },
  {
    name: 'doctor: the session has ended',
    line: doctor,
    finding: 'session',
    given: (world) => logIn(world, { record: { expiresAt: 1, refreshToken: undefined } }),
  },
  {
    name: 'doctor: the state folder can be written by others',
    line: doctor,
    finding: 'state-folder',
    given: ({ folders }) => chmodSync(folders.state, 0o777),
  },
  {
    name: 'doctor: the state folder is a file',
    line: doctor,
    finding: 'state-folder',
    given: (world) => {
      writeFileSync(join(world.folders.home, 'file'), '');
      world.env.CLOUDCTL_STATE_DIR = join(world.folders.home, 'file');
    },
    person: ({ env, folders }) => {
      env.CLOUDCTL_STATE_DIR = folders.state;
    },
  },
  {
    name: 'doctor: the folder of sessions cannot be written',
    line: doctor,
    finding: 'credential-file',
    given: (world) => {
      becomeOrdinaryUser(world);
      chmodSync(join(world.folders.state, 'sessions'), 0o500);
    },
  },
  {
    name: 'doctor: the authorization server is another server',
    line: doctor,
    finding: 'auth-url',
    given: async (world) => {
      const server = createHttp((_request, response) => response.writeHead(404).end());
      writeProfile(world, 'default', { auth_url: `http://127.0.0.1:${await listen(world, server)}` });
    },
    afterwards: (world) => writeProfile(world, 'default'),
  },
  {
    name: 'doctor: the API is not there',
    from: ['src/api/client.ts'],
    line: doctor,
    finding: 'base-url',
    given: async (world) => writeProfile(world, 'default', { base_url: `http://127.0.0.1:${await closedPort()}` }),
    afterwards: (world) => writeProfile(world, 'default'),
  },
  {
    name: 'doctor: the API fails',
    line: doctor,
    finding: 'base-url',
    given: async (world) => {
      let count = 0;
      const server = createHttp((_request, response) => response.writeHead(count++ === 0 ? 503 : 200).end('{}'));
      writeProfile(world, 'default', { base_url: `http://127.0.0.1:${await listen(world, server)}` });
    },
    person: () => undefined,
  },
  {
    name: 'doctor: the only port is in use',
    line: doctor,
    finding: 'port',
    given: async (world) => {
      const port = await listen(world, createServer());
      writeProfile(world, 'default', { callback_urls: [`http://127.0.0.1:${port}/callback`] });
    },
    pick: [1],
    fill: ({ sandbox }) => ({ PORT: new URL(sandbox.ready.callback_url).port }),
  },
  {
    name: 'doctor: one of two ports is in use',
    line: doctor,
    finding: 'port',
    given: async (world) => {
      const port = await listen(world, createServer());
      writeProfile(world, 'default', {
        callback_urls: [`http://127.0.0.1:${port}/callback`, world.sandbox.ready.callback_url],
      });
    },
    person: (world) => world.shell('cloudctl auth login'),
    stays: 'warning',
  },
  ...(
    [
      ['CI is set', { CI: 'true' }, (world: World) => world.shell('unset CI')],
      ['BROWSER=none', { BROWSER: 'none' }, (world: World) => world.shell('unset BROWSER')],
      ['BROWSER names no program', { BROWSER: 'no-such-browser' }, undefined],
      ['no display', {}, (world: World) => world.shell('cloudctl auth login --paste')],
      ['no program that opens a browser', { DISPLAY: ':0', PATH: '/nowhere' }, set('BROWSER', 'true')],
    ] as const
  ).map(
    ([name, env, person]): HintCase => ({
      name: `doctor: ${name}`,
      line: onTerminal,
      finding: 'browser',
      given: (world) => {
        const { PATH = '' } = world.env;
        Object.assign(world.env, { DISPLAY: undefined, ...env });
        if ('PATH' in env) world.env.PATH = onlyTools(world, PATH);
      },
      ...(person === undefined ? {} : { person }),
      // What is left is another warning: there is no display.
      stays: 'warning',
    }),
  ),
  ...(
    [
      ['a codespace', { CODESPACES: 'true' }],
      ['an SSH session', { SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' }],
      ['a container', { container: 'docker' }],
    ] as const
  ).map(
    ([name, env]): HintCase => ({
      name: `doctor: ${name}`,
      line: doctor,
      finding: 'surroundings',
      given: ({ env: variables }) => Object.assign(variables, env),
      pick: [0],
      stays: 'warning',
    }),
  ),
  {
    name: 'doctor: no terminal',
    line: doctor,
    finding: 'browser',
    stays: 'warning',
  },
];

const services: readonly HintCase[] = lacks('gnome-keyring-daemon', 'dbus-daemon', 'dbus-send')
  ? []
  : [
      {
        name: 'the keychain is locked',
        line: 'cloudctl auth setup --credential-store keychain --client-secret-stdin',
        stdin: 'client-secret\n',
        given: async (world) => {
          const service = await startSecretService();
          world.later(() => service.stop());
          Object.assign(world.env, { DBUS_SESSION_BUS_ADDRESS: service.env.DBUS_SESSION_BUS_ADDRESS });
          await service.lock();
          world.unlock = () => service.restart();
        },
        person: (world) => world.unlock(),
      },
      {
        name: 'the keychain does not answer',
        line: 'cloudctl auth setup --credential-store keychain --client-secret-stdin',
        stdin: 'client-secret\n',
        given: async (world) => {
          const service = await startSecretService();
          world.later(() => service.stop());
          Object.assign(world.env, { DBUS_SESSION_BUS_ADDRESS: service.env.DBUS_SESSION_BUS_ADDRESS });
          service.pause();
          world.unlock = () => service.resume();
        },
        person: (world) => world.unlock(),
      },
    ];

const program = (words: readonly string[]) => (world: World) =>
  writeProfile(world, 'default', { token_command: words });

const commands: readonly HintCase[] = [
  { name: 'token_command fails', line: list, given: program(['false']) },
  { name: 'token_command is missing', line: list, given: program(['/nowhere/program']) },
  {
    name: 'token_command is a relative path',
    line: list,
    given: program(['./program']),
    person: async (world) => program(['echo', (await tokenFor(world.sandbox)).access_token])(world),
  },
  { name: 'token_command prints nothing', line: list, given: program(['true']) },
  { name: 'auth refresh with token_command', line: 'cloudctl auth refresh', given: program(['true']) },
  { name: 'auth login with token_command', line: 'cloudctl auth login', given: program(['true']) },
  {
    name: 'token_command prints a token that is refused',
    line: list,
    given: program(['echo', 'an-access-token-of-nobody']),
    person: async (world) =>
      writeProfile(world, 'default', { token_command: ['echo', (await tokenFor(world.sandbox)).access_token] }),
  },
  {
    name: 'token_command prints a token of too small a scope',
    line: 'cloudctl droplets create web-1 --size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3',
    given: async (world) => {
      const { access_token } = await tokenFor(world.sandbox, { scope: 'read' });
      program(['echo', access_token])(world);
    },
    afterwards: async (world) => program(['echo', (await tokenFor(world.sandbox)).access_token])(world),
  },
  {
    name: 'token_command and another API',
    line: list,
    given: async (world) => {
      program(['echo', (await tokenFor(world.sandbox)).access_token])(world);
      world.env.CLOUDCTL_BASE_URL = 'https://api.example.com';
    },
    pick: [1],
  },
  {
    name: 'token_command and an option with another API',
    line: `${list} --base-url https://api.example.com`,
    given: async (world) => program(['echo', (await tokenFor(world.sandbox)).access_token])(world),
    pick: [0],
  },
  {
    name: 'token_command without base_url',
    from: ['src/auth/session/command.ts'],
    line: list,
    given: async (world) => {
      const { access_token } = await tokenFor(world.sandbox);
      writeProfile(world, 'default', { token_command: ['echo', access_token], base_url: undefined });
    },
    fill: ({ sandbox }) => ({ URL: sandbox.ready.base_url }),
  },
  {
    name: 'doctor: token_command without base_url',
    from: ['src/auth/doctor/profile.ts'],
    line: doctor,
    finding: 'profile',
    given: (world) =>
      writeProfile(world, 'default', { token_command: ['echo', 'an-access-token'], base_url: undefined }),
    fill: ({ sandbox }) => ({ URL: sandbox.ready.base_url }),
  },
  {
    name: 'doctor: token_command prints a token that has expired',
    line: doctor,
    finding: 'token-command',
    given: program(['echo', '{"access_token":"an-access-token","expires_at":"2020-01-01T00:00:00Z"}']),
    person: program(['echo', 'an-access-token']),
  },
  {
    name: 'token_command uses its own profile',
    line: list,
    given: async (world) => {
      writeProfile(world, 'broker');
      await logIn(world, { profile: 'broker' });
      program(['sh', '-c', 'CLOUDCTL_CONFIG_DIR="$HOME/config" CLOUDCTL_STATE_DIR="$HOME/state" cloudctl auth token'])(
        world,
      );
    },
    person: program([
      'sh',
      '-c',
      'CLOUDCTL_CONFIG_DIR="$HOME/config" CLOUDCTL_STATE_DIR="$HOME/state" cloudctl auth token --profile broker',
    ]),
  },
  { name: 'others can write to config.json', line: list, given: (world) => chmodSync(configFile(world), 0o666) },
];

hintCases('settings', [...cases, ...services, ...findings, ...commands]);
