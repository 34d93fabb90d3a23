import { chmodSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { admin, TOMAS, tokenFor } from '../../sandbox/requests.ts';
import { type HintCase, hintCases } from './hint-cases.ts';
import { becomeOrdinaryUser, fault, logIn, type World, writeProfile } from './world.ts';

const create = 'cloudctl droplets create';
const plain = '--size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3';
const list = 'cloudctl droplets list';
const remove = 'cloudctl droplets delete';
const resume = `${create} --resume b.jsonl`;
const line = (text: string, more: Partial<HintCase> = {}): HintCase => ({ name: text, line: text, ...more });
const made = (words: string, more: Partial<HintCase> = {}): HintCase => line(`${create} ${words} ${plain}`, more);
const typed = (text: string): Partial<HintCase> => ({ person: () => text });
/** The batch without the mistake. */
const better = (words: string): Partial<HintCase> => typed(`${create} ${words} ${plain}`);
const from = (...files: readonly string[]): Partial<HintCase> => ({ from: files.map((one) => `src/${one}.ts`) });
const file = (name: string, text: string) => (world: World) => writeFileSync(join(world.cwd, name), text);
const at = (world: World, name: string): string => join(world.cwd, name);
const noFaults = ({ sandbox }: World): Promise<unknown> => admin(sandbox, 'DELETE', '/_sandbox/faults');
const posts = { method: 'POST', path: '/v2/droplets' };
const deletions = { method: 'DELETE', path: '/v2/droplets/*' };
const quotedIn = (hint: string): readonly string[] => [...hint.matchAll(/`([^`]*)`/g)].map(([, part = '']) => part);

const words: readonly HintCase[] = [
  made('', better('web-9')),
  made('--names-from none.txt', { person: file('none.txt', 'web-9\n') }),
  made('--names-from empty.txt', { given: file('empty.txt', ''), person: file('empty.txt', 'web-9\n') }),
  made('--names-from noted.txt', {
    given: file('noted.txt', '# web\nweb-9\n'),
    person: () => `grep -v '^[[:space:]]*#' noted.txt | ${create} --names-from - ${plain}`,
  }),
  made('--names-from -', {
    stdin: '# web\nweb-9\n',
    person: () => `printf '# web\\nweb-9\\n' | grep -v '^[[:space:]]*#' | ${create} --names-from - ${plain}`,
  }),
  made('web-9 web-9', better('web-9')),
  made('web_9', better('web-9')),
  made("'web-{01..'", better("'web-{11..12}'")),
  made("'web-{1..99999999}' --dry-run", better("'web-{1..9}' --dry-run")),
  line(`${create} web-9 --region nyc3`),
  made('web-9 --set tags=web', { pick: [1] }),
  made('web-9 --set \'name="x"\'', better('web-9')),
  made('web-9 --set \'size="x"\'', { ...from('droplets/options'), ...better('web-9') }),
  made("web-9 --tag-names 'a b'"),
  made("web-9 --ssh-keys 'a b'"),
  made('web-9 --vpc-uuid nowhere', better('web-9 --vpc-uuid 5a4981aa-9653-4bd1-bef5-d6bff52042e4')),
  made('web-9 --tag-names web --set \'tags="x"\'', { pick: [0] }),
  made('web-9 --batch-id nightly --set \'tags="x"\'', { pick: [0] }),
  made('web-9 --vpc-uuid 5a4981aa-9653-4bd1-bef5-d6bff52042e4 --set \'vpc_uuid="x"\'', better('web-9')),
  made("web-9 --batch-id 'a b'", { pick: [4] }),
  made('web-9 --plan --dry-run', better('web-9 --dry-run')),
  made('web-9 --wait-timeout 5m', from('droplets/create')),
  made('web-9 --resume a.jsonl --ledger b.jsonl', better('web-9 --ledger b.jsonl')),
  made('web-9 --resume a.jsonl --batch-id nightly', better('web-9 --ledger b.jsonl --batch-id nightly')),
  made('web-9 --ledger link.jsonl', {
    given: (world) => {
      file('empty', '')(world);
      symlinkSync('empty', at(world, 'link.jsonl'));
    },
  }),
  made('web-9 --user-data-file none.yaml', { person: file('none.yaml', '#cloud-config\n') }),
  made('web-9 --user-data-file empty.yaml', {
    given: file('empty.yaml', ''),
    person: file('empty.yaml', '#cloud-config\n'),
  }),
  made('--names-from - --user-data-file -', {
    stdin: 'web-9\n',
    person: (world) => {
      file('init.yaml', '#cloud-config\n')(world);
      return `${create} --names-from - ${plain} --user-data-file init.yaml`;
    },
  }),
  line(`${remove} --tag web --tag db --yes`, typed(`${remove} --tag web --yes`)),
  line(`${remove} '' --yes`, typed(`${remove} web-01 --yes`)),
  // The list shows the ids; the line as it was typed stays wrong.
  line(`${remove} web-01 --tag web --yes`, { pick: [0], ends: 2 }),
  line(`${remove} --yes`, typed(`${remove} web-01 --yes`)),
  line(`${remove} 'web-[z-a]' --yes`, typed(`${remove} 'web-*' --yes`)),
  line(`${remove} web-01 web-99 --yes`, { pick: [1] }),
  line(`${remove} web-01`, { pick: [1] }),
  line(`${list} ''`, typed(list)),
  line(`${list} 'web-[z-a]'`, { isInstead: true }),
  line("cloudctl droplets get ''", { ...from('commands/droplets/get'), isInstead: true }),
  line('cloudctl droplets get twin', {
    given: async (world) => {
      for (const _ of [1, 2]) await world.shell(`${create} twin ${plain} --if-exists create`);
    },
    isInstead: true,
  }),
  line('cloudctl droplets get 400000001', {
    name: 'an id that is also a name',
    given: (world) => world.shell(`${create} 400000001 ${plain} --if-exists create`),
    pick: [1],
    isInstead: true,
  }),
];

/** A batch of which one request was refused, so that its ledger can be continued. */
const failed =
  (more = '') =>
  async (world: World): Promise<void> => {
    await fault(world, { match: posts, action: 'status', status: 422, nth: 2, times: 1 });
    await world.shell(`${create} w-{1..3} ${plain} --ledger b.jsonl --batch-size 1 --concurrency 1 ${more}`);
    await noFaults(world);
  };

const lane = '--batch-size 1 --concurrency 1 --ledger b.jsonl';

const freed = async (world: World): Promise<string> => {
  await world.shell(`${remove} web-01 web-02 --yes`);
  return resume;
};

const stopped: readonly HintCase[] = [
  made(`w-{1..3} ${lane}`, {
    name: 'a part of the batch was refused',
    given: (world) => fault(world, { match: posts, action: 'status', status: 422, nth: 2, times: 1 }),
    isInstead: true,
  }),
  made(`w-{1..3} ${lane}`, {
    name: 'the whole batch was refused',
    given: (world) => fault(world, { match: posts, action: 'status', status: 422, nth: 1, times: 9 }),
    person: async (world) => {
      await noFaults(world);
      return `${create} w-{1..3} ${plain} --ledger c.jsonl`;
    },
  }),
  made(`w-{1..3} ${lane}`, {
    name: 'the session ends within a batch',
    given: async (world) => {
      await logIn(world, { record: { refreshToken: undefined } });
      await fault(world, { match: posts, action: 'status', status: 401, nth: 2, times: 1 });
    },
    pick: [0, 1],
    isInstead: true,
  }),
  made(`w-{1..5} ${lane}`, {
    name: 'the limit of droplets is reached within a batch',
    world: { dropletLimit: 7 },
    person: freed,
  }),
  made('w-{1..5} --ledger b.jsonl --batch-size 5', {
    name: 'the limit of droplets is too small for the batch',
    world: { dropletLimit: 7 },
    person: freed,
  }),
  made('w-1 --ledger b.jsonl', {
    name: 'the limit of droplets was reached before',
    world: { dropletLimit: 3 },
    given: (world) => world.shell(`${create} v-{1..5} ${plain} --batch-size 1`),
    person: freed,
  }),
  made('w-1 w-2 --ledger b.jsonl --retry-for 1s', {
    name: 'the answer is lost, and what the server did is unknown',
    ...from('droplets/report', 'api/api-response'),
    given: async (world) => {
      const reads = { method: 'GET', path: '/v2/droplets' };
      await fault(world, { match: posts, action: 'commit_then_drop', times: 1 });
      await fault(world, { match: reads, action: 'status', status: 503, nth: 3, times: 99 });
    },
    beforehand: noFaults,
    pick: [0],
    isInstead: true,
  }),
  made('web-01 web-9', { name: 'a name is in use', pick: [0] }),
  made('web-01 web-8', { name: 'a name is in use, and more are wanted', pick: [1] }),
  made('w-1 w-9 --batch-id nightly', {
    name: 'the batch id is of another batch',
    given: (world) => world.shell(`${create} w-{1..3} ${plain} --batch-id nightly`),
    ...better('w-1 w-9 --batch-id nightly-2 --if-exists skip'),
  }),
  line(`${remove} web-01 web-02 db-01 --yes`, {
    name: 'a part of a deletion failed',
    given: (world) => fault(world, { match: deletions, action: 'status', status: 422, nth: 2, times: 1 }),
    isInstead: true,
  }),
  line(`${remove} web-01 --yes`, {
    name: 'a whole deletion failed',
    given: (world) => fault(world, { match: deletions, action: 'status', status: 422, times: 1 }),
    isInstead: true,
  }),
  made('w-1', {
    name: 'the list has no total',
    given: async (world) => {
      const server = createHttp((_request, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"droplets":[]}'),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      world.later(() => server.close());
      const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      writeProfile(world, 'default', { base_url });
      await logIn(world, { record: { baseOrigin: base_url } });
    },
    afterwards: async (world) => {
      writeProfile(world, 'default');
      await logIn(world);
    },
  }),
];

const ledgers: readonly HintCase[] = [
  line(resume, { name: 'the ledger is not there', person: async (world) => void (await failed()(world)) }),
  line(`${resume} --size s-2vcpu-2gb`, { given: failed(), ...typed(resume) }),
  made('w-9 --ledger b.jsonl', { given: failed(), ...better('w-9 --ledger c.jsonl') }),
  line(`${resume} --profile other`, {
    ...from('droplets/account'),
    given: async (world) => {
      await failed()(world);
      writeProfile(world, 'other');
      await logIn(world, { profile: 'other' });
    },
  }),
  line(`${resume} --base-url http://127.0.0.1:8999`, { ...from('droplets/account'), given: failed() }),
  line(resume, {
    name: 'the ledger is of a sandbox that was started earlier',
    // The hint creates the droplets; the ledger stays that of another server.
    ends: 2,
    given: async (world) => {
      await failed()(world);
      const ledger = join(world.folders.work, 'b.jsonl');
      writeFileSync(
        ledger,
        readFileSync(ledger, 'utf8').replaceAll(world.sandbox.ready.base_url, 'http://127.0.0.1:1'),
      );
    },
  }),
  line(resume, {
    name: 'the ledger is of another account',
    given: async (world) => {
      await failed()(world);
      await logIn(world, { user: TOMAS });
    },
  }),
  line(resume, {
    name: 'the ledger is of another account than the token of the variable',
    given: async (world) => {
      await failed()(world);
      world.env.CLOUDCTL_ACCESS_TOKEN = (await tokenFor(world.sandbox, { user: TOMAS })).access_token;
    },
    person: async (world) => {
      world.env.CLOUDCTL_ACCESS_TOKEN = (await tokenFor(world.sandbox)).access_token;
    },
  }),
  line(resume, {
    name: 'the ledger is of another account than the token command',
    given: async (world) => {
      await failed()(world);
      const { access_token } = await tokenFor(world.sandbox, { user: TOMAS });
      writeProfile(world, 'default', { token_command: ['echo', access_token] });
    },
    person: async (world) => {
      const { access_token } = await tokenFor(world.sandbox);
      writeProfile(world, 'default', { token_command: ['echo', access_token] });
    },
  }),
  line(resume, {
    name: 'a line of the ledger is damaged',
    given: async (world) => {
      await failed()(world);
      const [first = '', ...rest] = readFileSync(at(world, 'b.jsonl'), 'utf8').split('\n');
      writeFileSync(at(world, 'b.jsonl'), [first, 'no event', ...rest].join('\n'));
    },
    person: (world) => {
      const lines = readFileSync(at(world, 'b.jsonl'), 'utf8').split('\n');
      writeFileSync(at(world, 'b.jsonl'), lines.filter((one) => one !== 'no event').join('\n'));
    },
  }),
  line(resume, {
    name: 'the first line of the ledger is incomplete',
    given: async (world) => {
      await failed()(world);
      truncateSync(at(world, 'b.jsonl'), 10);
    },
    person: async (world, hint) => {
      const [away = '', begin = ''] = quotedIn(hint);
      await world.shell(away);
      return `${begin} w-9 ${plain}`;
    },
  }),
  line(resume, {
    name: 'the ledger is empty',
    given: file('b.jsonl', ''),
    person: (_world, hint) => `${quotedIn(hint)[0]} w-9 ${plain}`,
  }),
  line(resume, {
    name: 'the ledger cannot be read',
    given: async (world) => {
      await failed()(world);
      becomeOrdinaryUser(world);
      chmodSync(at(world, 'b.jsonl'), 0);
    },
    person: (world) => chmodSync(at(world, 'b.jsonl'), 0o600),
  }),
  line(resume, {
    name: 'a resumed batch lacks its user data',
    given: async (world) => {
      file('init.yaml', '#cloud-config\n')(world);
      await failed('--user-data-file init.yaml')(world);
    },
    ...typed(`${resume} --user-data-file init.yaml`),
  }),
  line(`${resume} --user-data-file other.yaml`, {
    name: 'a resumed batch has other user data',
    given: async (world) => {
      file('init.yaml', '#cloud-config\n')(world);
      file('other.yaml', '#cloud-config\n# other\n')(world);
      await failed('--user-data-file init.yaml')(world);
    },
    ...typed(`${resume} --user-data-file init.yaml`),
  }),
  line(`${resume} --user-data-file other.yaml`, {
    name: 'a resumed batch had no user data',
    given: async (world) => {
      file('other.yaml', '#cloud-config\n# other\n')(world);
      await failed()(world);
    },
  }),
  line('cloudctl droplets batches show nothing', {
    given: failed(),
    person: async (world, hint) => {
      await world.shell(quotedIn(hint)[0] ?? '');
      return 'cloudctl droplets batches show b.jsonl';
    },
  }),
];

hintCases('droplets', [...words, ...stopped, ...ledgers]);
