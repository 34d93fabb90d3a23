import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type HintCase, hintCases } from './hint-cases.ts';
import type { World } from './world.ts';

const pg = 'postgres://me@127.0.0.1:1/shop';
const target = 'postgres://me@127.0.0.1:2/shop';
const redis = 'redis://127.0.0.1:1';
const file = (name: string, text: string) => (world: World) => writeFileSync(join(world.cwd, name), text);
const from = (...files: readonly string[]): Partial<HintCase> => ({ from: files.map((one) => `src/${one}.ts`) });

/**
 * A line with a mistake and the line without it. Nobody listens at these sources and targets, so the line without a mistake ends
 * with 3, 5 or 6, and its hint is what to do then.
 */
const mistake = (text: string, better: string, more: Partial<HintCase> = {}): HintCase => ({
  name: text,
  line: text,
  ends: 3,
  person: () => better,
  ...more,
});
const at = (words: string, better: string, more: Partial<HintCase> = {}): HintCase =>
  mistake(`cloudctl db preflight ${words}`, `cloudctl db preflight ${better}`, more);
const rehearse = (words: string, better: string): HintCase =>
  mistake(`cloudctl db rehearse --source ${pg} ${words}`.trimEnd(), `cloudctl db rehearse --source ${pg} ${better}`, {
    ends: 6,
  });

const certificate = (world: World): unknown =>
  world.shell('openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=ca -keyout /dev/null -out ca.pem 2>/dev/null');

const sources: readonly HintCase[] = [
  at('', `--source ${pg}`),
  at('--host 127.0.0.1', '--host 127.0.0.1 --engine postgresql --username me --dbname shop --port 1'),
  at(`--source ${pg} --engine redis`, `--source ${pg}`),
  at('--source mysql://me@127.0.0.1/shop', `--source ${pg}`),
  at(`--source ${redis} --ignore-dbs shop`, `--source ${redis}`),
  at(`--source ${redis} --allow-cleartext-password`, `--source ${redis}`),
  at('--engine redis --host 127.0.0.1 --port none', '--engine redis --host 127.0.0.1 --port 1'),
  at(`--source ${pg} --password-stdin`, `--source ${pg} --password-stdin < password.txt`, {
    given: file('password.txt', 'secret\n'),
  }),
  at(`--source ${redis} --ca-file none.pem`, '--source rediss://127.0.0.1:1 --ca-file ca.pem', { given: certificate }),
  at(`--source '${pg}?colour=red'`, `--source ${pg}`),
  at('--engine postgresql --source pg://me@127.0.0.1/shop', `--source ${pg}`),
  at('--source postgres://me:a@b@127.0.0.1:1/shop', '--source postgres://me:a%40b@127.0.0.1:1/shop'),
  at('--source postgres://me@::1:1/shop', "--source 'postgres://me@[::1]:1/shop'"),
  at('--source postgres://me@a,b/shop', `--source ${pg}`),
  at('--source postgres://me:a%b@127.0.0.1:1/shop', '--source postgres://me:a%25b@127.0.0.1:1/shop'),
  at(`--source '${pg}?sslmode'`, `--source '${pg}?sslmode=disable'`),
  at("--engine postgresql --source 'host=127.0.0.1 nonsense'", `--source ${pg}`),
  at(`--source ${pg} --username you`, `--source ${pg}`),
  at('--engine postgresql --host 127.0.0.1', `--source ${pg}`),
  at('--engine postgresql --username me --dbname shop', `--source ${pg}`),
  at('--engine postgresql --host /var/run/postgresql --username me --dbname shop', `--source ${pg}`),
  at('--engine postgresql --host 127.0.0.1:1 --username me --dbname shop', `--source ${pg}`),
  at("--engine postgresql --host 'a b' --username me --dbname shop", `--source ${pg}`),
  at('--engine postgresql --host 127.0.0.1 --port 99999 --username me --dbname shop', `--source ${pg}`),
  at(`--source '${pg}?sslmode=require' --disable-ssl`, `--source '${pg}?sslmode=require'`),
  at(`--source ${pg} --disable-ssl --ca-file ca.pem`, `--source ${pg} --ca-file ca.pem`, { given: certificate }),
  at(`--source '${pg}?sslmode=disable&ssl=true'`, `--source '${pg}?sslmode=disable'`),
  at(`--source '${pg}?ssl=maybe'`, `--source '${pg}?ssl=true'`),
  at(`--source '${pg}?sslmode=maybe'`, `--source '${pg}?sslmode=require'`, from('postgresql/endpoint')),
  at(`--source '${pg}?sslrootcert=none.pem'`, `--source '${pg}?sslrootcert=ca.pem'`, { given: certificate }),
  at(`--source '${pg}?sslrootcert=wrong.pem'`, `--source '${pg}?sslrootcert=ca.pem'`, {
    given: async (world) => {
      await certificate(world);
      file('wrong.pem', 'no certificate')(world);
    },
  }),
  at(`--source ${redis} --host redis://127.0.0.1`, `--source ${redis}`),
  at('--engine redis --host 127.0.0.1 --port 99999', `--source ${redis}`),
  at('--engine redis --host /var/run/redis.sock', `--source ${redis}`, from('redis/endpoint')),
  at('--source redis://you@127.0.0.1:1 --username me', '--source redis://:you@127.0.0.1:1 --username me'),
  at(`--source ${redis} --port 2`, `--source ${redis}`),
  at('--source rediss://127.0.0.1:1 --disable-ssl', `--source ${redis}`),
  at(`--source ${redis} --ca-file ca.pem`, '--source rediss://127.0.0.1:1 --ca-file ca.pem', { given: certificate }),
  at('--source redis://a:1,b:1', `--source ${redis}`),
  at("--source 'redis://127.0.0.1:1?db=0'", `--source ${redis}`),
  at('--source redis://127.0.0.1:1/zero', '--source redis://127.0.0.1:1/0'),
  at('--source redis://:a%b@127.0.0.1:1', '--source redis://:a%25b@127.0.0.1:1'),
  at('--engine redis --source unix:///var/run/redis.sock', `--source ${redis}`, from('redis/endpoint')),
];

const commands: readonly HintCase[] = [
  at(`--source ${pg} --method rsync`, `--source ${pg} --method dump`, from('cli/parse-errors')),
  at(`--source ${redis} --method dump`, `--source ${redis} --method scan`),
  at(`--source ${pg} --target-version new`, `--source ${pg} --target-version 17`),
  at(`--source ${redis} --target-version new`, `--source ${redis} --target-version valkey-8`),
  at(`--source ${pg} --target-extensions pg_cron=`, `--source ${pg} --target-extensions hstore,pg_cron=1.6`),
  at(`--source ${pg} --target ${target} --target-extensions hstore`, `--source ${pg} --target ${target}`, { ends: 6 }),
  at(`--source ${pg} --deep-rate 50`, `--source ${pg} --deep --deep-rate 50`),
  at(`--source ${pg} --deep --deep-rate fast`, `--source ${pg} --deep --deep-rate 50`),
  at(`--source ${redis} --deep`, `--source ${redis}`),
  at(`--source ${pg} --sarif-uri schema.sql`, `--source ${pg} --sarif-uri schema.sql --report preflight.sarif`),
  at(
    `--source ${pg} --sarif-uri 'a b' --report preflight.sarif`,
    `--source ${pg} --sarif-uri a%20b --report preflight.sarif`,
  ),
  at(`--source ${pg} --report a.xyz`, `--source ${pg} --report a.md`, from('db/preflight/run-with-files')),
  at(`--source ${pg} --accept wal-levle`, `--source ${pg} --accept wal-level`),
  at(`--source ${pg} --accept frobnicate`, `--source ${pg} --accept wal-level`),
  at(`--source ${pg} --baseline wrong.json`, `--source ${pg} --baseline other.json`, {
    ...from('db/preflight/run-with-files'),
    given: file('wrong.json', 'no baseline'),
  }),
  at(`--source ${pg} --fix-sql fix.sql`, `--source ${pg} --fix-sql other.sql`, { given: file('fix.sql', '-- mine') }),
  ...['none.txt', 'empty.txt', 'wrong.txt'].map((name) =>
    mistake(`cloudctl db inventory ${name}`, 'cloudctl db inventory list.txt', {
      ends: 5,
      given: (world) => {
        file('empty.txt', '')(world);
        file('wrong.txt', 'nonsense here\n')(world);
        file('list.txt', `${pg}\n`)(world);
      },
    }),
  ),
  mistake('cloudctl db inventory list.txt --report a.xyz', 'cloudctl db inventory list.txt --report a.md', {
    ...from('db/inventory/options'),
    ends: 5,
    given: file('list.txt', `${pg}\n`),
  }),
  // The migration is not there yet, which the next error says.
  mistake('cloudctl db status nothing', 'cloudctl db status "$(cloudctl db list --format ID | tail -1)"', { ends: 1 }),
  {
    name: 'a cluster that is not there',
    line: 'cloudctl db status 5b0f2c1e-6a7d-4c3b-9e8f-0a1b2c3d4e5f',
    ends: 1,
    pick: [0],
  },
  mistake(`cloudctl db compare --source ${pg}`, `cloudctl db compare --source ${pg} --target ${target}`),
  mistake(
    `cloudctl db compare --source ${pg} --target ${redis}`,
    `cloudctl db compare --source ${pg} --target ${target}`,
  ),
  rehearse('', `--into ${target} --yes`),
  rehearse(`--into ${redis} --yes`, `--into ${target} --yes`),
  rehearse(`--into ${target}`, `--into ${target} --yes`),
  rehearse(`--into ${target} --yes --report a.xyz`, `--into ${target} --yes --report a.json`),
  mistake(`cloudctl db sequences --source ${redis}`, `cloudctl db sequences --source ${pg}`, {
    from: ['src/db/cutover/scripts.ts'],
  }),
];

hintCases('db', [...sources, ...commands]);
