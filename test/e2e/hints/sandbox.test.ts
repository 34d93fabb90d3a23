import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { makeCertificates } from '../../platform/certificates.ts';
import { type HintCase, hintCases } from './hint-cases.ts';
import { becomeOrdinaryUser, logIn, type World, writeProfile } from './world.ts';

const line = (text: string, more: Partial<HintCase> = {}): HintCase => ({ name: text, line: text, ...more });
const typed = (text: string): Partial<HintCase> => ({ person: () => text });
const from = (...files: readonly string[]): Partial<HintCase> => ({ from: files.map((one) => `src/${one}.ts`) });
const file = (name: string, text: string) => (world: World) => writeFileSync(join(world.cwd, name), text);

/** The variables of the admin API of this sandbox. */
const administers = ({ env, sandbox: { ready } }: World): void => {
  env.CLOUDCTL_SANDBOX_ADMIN_URL = ready.admin_url;
  env.CLOUDCTL_SANDBOX_ADMIN_TOKEN = ready.admin_token;
};
const at = (words: string): string => `cloudctl sandbox ${words} --admin-url "$CLOUDCTL_SANDBOX_ADMIN_URL"`;
const admin = (words: string, more: Partial<HintCase> = {}): HintCase =>
  line(at(words), { given: administers, ...more });

/** A sandbox that is ended as soon as it is there. */
const start = (words: string): string => `briefly cloudctl sandbox start ${words}`.trimEnd();
const starting = (words: string, more: Partial<HintCase> = {}): HintCase => line(start(words), more);

async function occupied(world: World): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  world.later(() => server.close());
  world.env.PORT = String((server.address() as AddressInfo).port);
}

function certify(world: World): void {
  const { cert, key } = makeCertificates();
  file('cert.pem', cert)(world);
  file('key.pem', key)(world);
}

const cases: readonly HintCase[] = [
  line('cloudctl sandbox requests', from('context')),
  line('cloudctl sandbox env', from('commands/sandbox/env')),
  admin('clock tomorrow', typed(at('clock +10m'))),
  admin('clock advance 31d', { ...from('cli/parse-errors'), ...typed(at('clock +31d')) }),
  admin('clock 31d', typed(at('clock +31d'))),
  admin("faults add --match 'POST /v2/droplets'", { pick: [0] }),
  admin('faults add --action commit_then_drop', { pick: [0] }),
  admin("faults add --match 'POST /v2/droplets' --action delay"),
  admin(
    "faults add --match 'POST /v2/droplets' --action delay --delay 20m",
    typed(at("faults add --match 'POST /v2/droplets' --action delay --delay 10m")),
  ),
  admin("faults add --match 'POST /v2/droplets' --action reset --status 500", { pick: [0] }),
  admin("faults add --match 'POST /v2/droplets?a=b' --action reset"),
  admin("faults add --action reset --grant-type 'a b'"),
  admin('token', typed(at('token --user maya@example.com'))),
  admin('restore none.json', { person: (world) => world.shell(at('snapshot none.json')) }),
  admin('restore wrong.json', {
    given: (world) => {
      administers(world);
      file('wrong.json', '{"a":1}')(world);
    },
    person: (world) => world.shell(at('snapshot wrong.json')),
  }),
  admin('snapshot closed/state.json', {
    given: (world) => {
      administers(world);
      mkdirSync(join(world.cwd, 'closed'));
      becomeOrdinaryUser(world);
      chmodSync(join(world.cwd, 'closed'), 0o500);
    },
    ...typed(at('snapshot state.json')),
  }),
  line('cloudctl sandbox requests --admin-url nowhere', { given: administers, ...typed(at('requests')) }),
  admin('requests', {
    name: 'the admin token is of another sandbox',
    given: (world) => {
      administers(world);
      world.env.CLOUDCTL_SANDBOX_ADMIN_TOKEN = 'a-token-of-another-sandbox';
    },
    person: administers,
  }),
  line('cloudctl sandbox requests', {
    name: 'the sandbox of the state folder has gone',
    given: async (world) => {
      const other = world.start('cloudctl sandbox start');
      await other.waitFor('stderr', /Ctrl-C/);
      other.kill('SIGKILL');
      await other.ended;
    },
  }),
  starting('--app wrong', typed(start('--app "My tool=http://127.0.0.1:9000/callback"'))),
  starting('--callback-url nowhere', { isInstead: true }),
  starting('--data none.json', { given: file('own.json', '{}'), ...typed(start('--data own.json')) }),
  starting('--data own.json', {
    given: file('own.json', '{"peple":[]}'),
    person: file('own.json', '{"people":[{"email":"me@example.com"}]}'),
  }),
  starting('--data big.json', {
    given: (world) => world.shell('truncate -s 70M big.json'),
    person: file('big.json', '{}'),
  }),
  starting('--tls-cert cert.pem', { given: certify, ...typed(start('--tls-cert cert.pem --tls-key key.pem')) }),
  starting('--tls-key key.pem', { given: certify, ...typed(start('--tls-cert cert.pem --tls-key key.pem')) }),
  starting('--tls-cert none.pem --tls-key key.pem', {
    given: certify,
    ...typed(start('--tls-cert cert.pem --tls-key key.pem')),
  }),
  starting('--tls-cert key.pem --tls-key cert.pem', {
    given: certify,
    ...typed(start('--tls-cert cert.pem --tls-key key.pem')),
  }),
  starting('--consent sometimes', { pick: [0] }),
  // Nobody listens there, which the next error says.
  starting('--cluster wrong', { ...typed(start('--cluster pg=postgres://me@127.0.0.1:1/postgres')), ends: 2 }),
  starting('--cluster pg=postgres://me@127.0.0.1:1/a --cluster pg=postgres://me@127.0.0.1:1/b', {
    ...typed(start('--cluster pg=postgres://me@127.0.0.1:1/a')),
    ends: 2,
  }),
  starting('--port "$PORT"', { given: occupied, ...typed(start('')) }),
  starting('--port "$PORT" --state kept', { given: occupied, ...typed(start('--port 0 --api-port 0 --state kept')) }),
  starting('--listen 0.0.0.0 --public-name sandbox:18080 --host 127.0.0.1'),
  starting('--listen 127.0.0.1:8080', typed(start('--listen 127.0.0.1'))),
  starting('--listen 0.0.0.0', typed(start('--listen 0.0.0.0 --public-name sandbox:18082'))),
  starting('--public-name sandbox:18084'),
  starting('--listen 0.0.0.0 --public-name sandbox', typed(start('--listen 0.0.0.0 --public-name sandbox:18086'))),
  starting('--listen 0.0.0.0 --public-name sandbox:18088 --port 18089'),
  starting(
    '--listen 0.0.0.0 --public-name sandbox:65535',
    typed(start('--listen 0.0.0.0 --public-name sandbox:65535 --api-port 18090')),
  ),
  starting(
    '--listen 0.0.0.0 --public-name sandbox:18091 --api-port 18091',
    typed(start('--listen 0.0.0.0 --public-name sandbox:18091 --api-port 18092')),
  ),
  starting('--listen 0.0.0.0 --public-name sandbox:18094', {
    name: 'the admin token of a variable is none',
    given: ({ env }) => {
      env.CLOUDCTL_SANDBOX_ADMIN_TOKEN = 'short';
    },
    person: (world, hint) => world.shell(`export CLOUDCTL_SANDBOX_ADMIN_TOKEN="$(${/`([^`]*)`/.exec(hint)?.[1]})"`),
  }),
  starting('--state kept --seed 5', { given: (world) => world.shell(start('--state kept')), pick: [0] }),
  starting('--state kept', {
    name: 'the state folder is in use',
    given: async (world) => {
      const other = world.start('cloudctl sandbox start --state kept');
      await other.waitFor('stderr', /Ctrl-C/);
      world.later(() => other.kill('SIGKILL'));
      world.env.OTHER = String(other.pid);
    },
    person: (world) => world.shell('kill -INT "$OTHER"; while kill -0 "$OTHER" 2>/dev/null; do sleep 0.1; done'),
  }),
  starting('--state full', {
    name: 'the state folder has other files',
    given: (world) => {
      mkdirSync(join(world.cwd, 'full'));
      file('full/a', 'b')(world);
    },
    ...typed(start('--state new')),
  }),
  starting('--state kept', {
    name: 'the saved state is damaged',
    given: async (world) => {
      await world.shell(start('--state kept'));
      await world.shell('for one in kept/*; do printf damaged > "$one"; done');
    },
    ...typed(start('--state new')),
  }),
  starting('--state closed/kept', {
    name: 'the state folder cannot be written',
    given: (world) => {
      mkdirSync(join(world.cwd, 'closed'));
      becomeOrdinaryUser(world);
      chmodSync(join(world.cwd, 'closed'), 0o500);
    },
    ...typed(start('--state new')),
  }),
  line('cloudctl open droplet', { ...typed('cloudctl open droplet web-01 --print'), ends: 1 }),
  line('cloudctl open panel 5', { isInstead: true }),
  line('cloudctl open droplets', { isInstead: true }),
  line('cloudctl open', {
    name: 'no authorization server',
    given: (world) => writeProfile(world, 'default', { auth_url: undefined }),
    ...typed('cloudctl open --auth-url https://cloud.example.com'),
  }),
  line('cloudctl api GET /v2/account', {
    name: 'no API',
    given: (world) => {
      writeProfile(world, 'default', { base_url: undefined });
      world.env.CLOUDCTL_ACCESS_TOKEN = 'an-access-token';
    },
    person: async (world) => {
      writeProfile(world, 'default');
      world.env.CLOUDCTL_ACCESS_TOKEN = undefined;
      await logIn(world);
    },
  }),
];

hintCases('sandbox', cases);
