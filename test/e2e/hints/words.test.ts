import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { admin, TOMAS, tokenFor, userOf } from '../../sandbox/requests.ts';
import { type HintCase, hintCases } from './hint-cases.ts';
import { becomeOrdinaryUser, fault, logIn, personAt, setupAnswers, type World, writeProfile } from './world.ts';

/** A line with a mistake; its hint is followed as it stands, or as `more` says. */
const line = (text: string, more: Partial<HintCase> = {}): HintCase => ({ name: text, line: text, ...more });
const from = (...files: readonly string[]): Partial<HintCase> => ({ from: files.map((one) => `src/${one}.ts`) });
const typed = (text: string): Partial<HintCase> => ({ person: () => text });
const file = (name: string, text: string) => (world: World) => writeFileSync(join(world.cwd, name), text);
const create = 'cloudctl droplets create';
const plain = '--size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3';
const list = 'cloudctl droplets list';
const login = 'cloudctl auth login';
const setup = 'cloudctl auth setup';
const secret = { stdin: 'a-client-secret\n' };
const droplet = '{"name":"web-9","size":"s-1vcpu-1gb","image":"ubuntu-24-04-x64","region":"nyc3"}';
const tokenFile = async (world: World): Promise<void> =>
  file('token.txt', (await tokenFor(world.sandbox)).access_token)(world);
const withTokenFile = async (world: World): Promise<string> => {
  await tokenFile(world);
  return `${login} --with-token < token.txt`;
};

const commandLine: readonly HintCase[] = [
  line('cloudctl auth logn', { isInstead: true }),
  line('cloudctl login', { isInstead: true }),
  line('cloudctl frobnicate', { isInstead: true }),
  line('cloudctl server list', { isInstead: true }),
  line('cloudctl droplets lst', { isInstead: true }),
  line('cloudctl droplets --region nyc3 create', typed(`${create} web-9 ${plain}`)),
  line(`${list} --regoin nyc3`, typed(`${list} --region nyc3`)),
  line(`${list} --frobnicate`, typed(list)),
  line(`${list} -v`, typed(`${list} --trace`)),
  line('cloudctl -v', typed('cloudctl --version')),
  line('cloudctl droplets delete --force web-01', {
    ...from('cli/parse-errors'),
    ...typed('cloudctl droplets delete --yes web-01'),
  }),
  line(`${list} --access-token abc`, {
    person: async (world) => {
      world.env.CLOUDCTL_ACCESS_TOKEN = (await tokenFor(world.sandbox)).access_token;
      return list;
    },
  }),
  line('cloudctl auth logout --all=yes', typed('cloudctl auth logout --all --local')),
  line(`${list} --limit`, typed(`${list} --limit 5`)),
  line(`${list} --region --tag web`, typed(`${list} --region fra1 --tag web`)),
  line('cloudctl auth switch', typed('cloudctl auth switch default')),
  line('cloudctl droplets get', typed('cloudctl droplets get web-01')),
  line('cloudctl db status', { pick: [0], ends: 2 }),
  line('cloudctl completion tcsh', { ...from('cli/parse-errors'), ...typed('cloudctl completion bash') }),
  line('cloudctl completion', typed('cloudctl completion bash')),
  line(`${list} -o xml`, { ...from('cli/parse-errors'), ...typed(`${list} -o json`) }),
  line('cloudctl actions list --status complete', typed('cloudctl actions list --status completed')),
  line(`${list} --format ID,Nmae`, typed(`${list} --format ID,Name`)),
  line(`${list} --format ID,,Name`, typed(`${list} --format ID,Name`)),
  line('cloudctl auth token --format x', { ...from('commands/auth/token'), ...typed('cloudctl auth token') }),
  line(`${list} --format ID,Colour`),
  line(`${list} --json idd`, typed(`${list} --json id`)),
  line(`${list} --json frobnicate`),
  line(`${list} --json PublicIPv4`, typed(`${list} -o json --format PublicIPv4`)),
  line(`${list} --json`, typed(`${list} --json id,name`)),
  line(`${list} --limit 0`, typed(`${list} --limit 1`)),
  line(`${list} --limit ten`, typed(`${list} --limit 10`)),
  line(`${list} --timeout 5`, typed(`${list} --timeout 5s`)),
  line(`${list} --timeout 0s`, typed(`${list} --timeout 1s`)),
  line(`${list} --query '[?status=='`, { pick: [0] }),
  line(`${list} --query "[?id > 5 && \\\`]"`, { person: () => `${list} --query '[?id > \`5\`]'` }),
  line(`${list} --region ''`),
  line(`${create} --names-from names.txt ${plain}`, {
    given: (world) => {
      file('names.txt', 'web-9\n')(world);
      becomeOrdinaryUser(world);
      chmodSync(join(world.cwd, 'names.txt'), 0);
    },
    person: (world) => chmodSync(join(world.cwd, 'names.txt'), 0o644),
  }),
  line('cloudctl config set auth_uri https://x.example', typed('cloudctl config set auth_url https://x.example')),
  line('cloudctl config set flow device', { isInstead: true }),
  line('cloudctl config set scope write', { pick: [0], isInstead: true }),
  line('cloudctl config set scope read', {
    given: ({ env }) => {
      env.CLOUDCTL_SCOPE = 'read';
    },
    warning: /CLOUDCTL_SCOPE/,
  }),
  line('cloudctl config get flow'),
  line('cloudctl config get token_comand', typed('cloudctl config get auth_url')),
];

const auth: readonly HintCase[] = [
  line(`${login} --scope write`, { pick: [0], ...from('auth/session/options') }),
  line(`${login} --team nowhere`, { pick: [0] }),
  line(`${login} --flow implicit --team personal`, { pick: [0] }),
  line(`${login} --flow implicit --prompt none`),
  line(`${login} --flow implicit --account-hint a07add`, { pick: [0] }),
  line(`${login} --account-hint a07adg`, typed(`${login} --account-hint a07add`)),
  line(`${login} --no-input`, { pick: [0] }),
  line(`${login} --no-input --scope read`, { name: 'a login without input, by paste', pick: [1] }),
  line(login, {
    name: 'a login in a CI job',
    given: ({ env }) => {
      env.CI = 'true';
    },
    pick: [0],
  }),
  line(`${login} --no-input`, {
    name: 'a login whose BROWSER cannot be started',
    given: ({ env }) => {
      env.BROWSER = '/nowhere/browser';
    },
  }),
  line(`${login} --callback-listen nowhere`, typed(`${login} --callback-listen 127.0.0.1 --allow-peer 127.0.0.1/32`)),
  line(`${login} --callback-listen 0.0.0.0`, typed(`${login} --callback-listen 0.0.0.0 --allow-peer 127.0.0.1/32`)),
  line(`${login} --allow-peer 127.0.0.1/32`),
  line(
    `${login} --callback-listen 0.0.0.0 --allow-peer nowhere`,
    typed(`${login} --callback-listen 0.0.0.0 --allow-peer 127.0.0.1`),
  ),
  line(`${login} --callback-listen 0.0.0.0 --allow-peer 127.0.0.1/32 --paste`, from('auth/session/options')),
  line(`${login} --with-token --paste`, { ...from('auth/session/given-token'), person: withTokenFile }),
  line(`${login} --with-token`, { name: 'a token of two words', stdin: 'two words\n', person: withTokenFile }),
  line(`${login} --with-token`, {
    name: 'a token that the server refuses',
    stdin: 'an-access-token-of-nobody',
    person: withTokenFile,
  }),
  line(`${login} --with-token --team "$TEAM" < token.txt`, {
    name: 'a token of another team',
    given: async (world) => {
      world.env.TEAM = userOf(world.sandbox, TOMAS).teams[0]?.uuid ?? '';
      await tokenFile(world);
    },
  }),
  line(login, {
    name: 'a login of a profile for tokens',
    given: (world) => writeProfile(world, 'default', { client_id: undefined, callback_urls: undefined }),
    answers: async ({ sandbox }) => ({ stdin: (await tokenFor(sandbox)).access_token }),
    isInstead: true,
  }),
  line(login, {
    name: 'a login of a profile that lacks several values',
    given: (world) => writeProfile(world, 'default', { client_id: undefined, auth_url: undefined }),
    answers: setupAnswers,
  }),
  line('cloudctl auth logout --all --profile default', {
    ...from('commands/auth/logout'),
    ...typed('cloudctl auth logout --profile default'),
  }),
  line('cloudctl auth logout', {
    name: 'a logout that cannot be proven',
    given: (world) =>
      fault(world, { match: { method: 'POST', path: '/v1/oauth/revoke' }, action: 'status', status: 503, times: 9 }),
    person: (world) => world.shell('true'),
  }),
  line('cloudctl auth remove work --profile default', { given: (world) => writeProfile(world, 'work') }),
  line('cloudctl auth switch work', {
    name: 'a switch that a variable outdoes',
    given: (world) => {
      writeProfile(world, 'work');
      world.env.CLOUDCTL_PROFILE = 'default';
    },
    warning: /CLOUDCTL_PROFILE/,
    pick: [1],
  }),
  line(`${setup} --client-secret-stdin`, {
    name: 'a client secret of two lines',
    stdin: 'two words\nmore\n',
    person: (world) => {
      file('secret.txt', 'a-client-secret\n')(world);
      return `${setup} --client-secret-stdin < secret.txt`;
    },
  }),
  line(
    `${setup} --no-input --profile new --auth-url "$AUTH" --base-url "$BASE" --client-id me --callback-url http://127.0.0.1:0/callback --credential-store file`,
    {
      name: 'a setup without a client secret',
      given: ({ env, sandbox }) => Object.assign(env, { AUTH: sandbox.ready.auth_url, BASE: sandbox.ready.base_url }),
      ...secret,
      pick: [0],
    },
  ),
  line(`${setup} --profile new --scope write`, { ...secret, pick: [0], ends: 2 }),
  line(`${login} --paste`, {
    name: 'a login by paste into which nothing is pasted',
    given: (world) => {
      world.browser = async () => world.paste?.('');
    },
    person: (world) => {
      world.browser = personAt();
    },
  }),
];

const reads = { method: 'GET', path: '/v2/droplets' };

const api: readonly HintCase[] = [
  line('cloudctl api FETCH /v2/droplets', { ...from('commands/api'), ...typed('cloudctl api GET /v2/droplets') }),
  line('cloudctl api GET', { isInstead: true }),
  line('cloudctl api -X GET POST /v2/droplets', typed('cloudctl api GET /v2/droplets')),
  line("cloudctl api GET '//v2/droplets'", typed('cloudctl api GET "/v2/droplets?per_page=5"')),
  line('cloudctl api GET https://elsewhere.example/v2/droplets', typed('cloudctl api GET /v2/droplets')),
  line("cloudctl api 'C:/Program Files/Git/v2/droplets'", { isInstead: true }),
  line("cloudctl api GET /v2/droplets --data '{}'", from('commands/api')),
  line('cloudctl api POST /v2/droplets --paginate', typed('cloudctl api GET /v2/droplets')),
  line('cloudctl api GET /v2/account --paginate'),
  line('cloudctl api GET /v2/droplets -f name', typed('cloudctl api GET /v2/droplets -f name=web-01')),
  line(
    "cloudctl api POST /v2/droplets --data '{name: web}'",
    typed(`cloudctl api POST /v2/droplets --data '${droplet}'`),
  ),
  line('cloudctl api POST /v2/droplets --data @none.json', { person: file('none.json', droplet) }),
  line('cloudctl actions get one', typed('cloudctl actions get "$(cloudctl actions list --format ID | tail -1)"')),
  line('cloudctl actions get 1 --wait-timeout 5s', { ...from('commands/actions/get'), ends: 1 }),
  line('cloudctl actions list --after yesterday', typed('cloudctl actions list --after 2026-01-31T08:00:00Z')),
  line(
    'cloudctl actions list --after 2026-01-31 --before 2026-01-30',
    typed('cloudctl actions list --after 2026-01-30 --before 2026-01-31'),
  ),
  line('cloudctl actions list --interval 5s', { ...from('commands/resource-list'), ...typed('cloudctl actions list') }),
  line('timeout -s INT 2 cloudctl actions list --watch --query "[].id"', {
    ...typed('timeout -s INT 2 cloudctl actions list --watch --format ID,Status'),
    ends: 124,
  }),
  line('timeout -s INT 2 cloudctl actions list --watch -o json', { ends: 124 }),
  line('cloudctl actions get 999', { name: 'an action that is not there', ends: 1 }),
  line('cloudctl droplets get 999', { name: 'a droplet that is not there', ...from('droplets/select'), ends: 1 }),
  line('cloudctl droplets get nobody', { ...from('droplets/select'), ends: 1 }),
  line("cloudctl droplets get 'nobody-*'", { ends: 1 }),
  line(`${list} --profile sandbox`, { name: 'the sandbox has no profile yet', ...from('config/settings'), ends: 4 }),
  line(list, {
    name: 'a server that is not the API',
    ...from('api/list'),
    given: async (world) => {
      const server = createServer((_request, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      world.later(() => server.close());
      const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      await logIn(world, { record: { baseOrigin: base_url } });
      writeProfile(world, 'default', { base_url });
    },
    afterwards: async (world) => {
      await logIn(world);
      writeProfile(world, 'default');
    },
  }),
  line(list, {
    name: 'a server that redirects',
    ...from('api/api-response'),
    given: (world) => fault(world, { match: reads, action: 'redirect_307', times: 1 }),
  }),
  line(list, {
    name: 'a server that fails',
    given: (world) => fault(world, { match: reads, action: 'status', status: 500, times: 9 }),
    person: ({ sandbox }) => admin(sandbox, 'DELETE', '/_sandbox/faults'),
  }),
  line(`${list} --timeout 1s`, {
    name: 'a server that is slow',
    given: (world) => fault(world, { match: reads, action: 'delay', delay: '3s', times: 9 }),
  }),
];

hintCases('words', [...commandLine, ...auth, ...api]);
