import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Certificates, makeCertificates } from '../fixtures/certificates.ts';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type Postgres, startPostgres } from '../fixtures/postgres.ts';
import { type FakeBehaviour, startFakePostgres } from './fake-postgres.ts';
import { fakeLogins, fakeQueries, fakeTls } from './fake-postgres-behaviours.ts';
import { endsWell, measuredRun, type Victim } from './measured-run.ts';

const password = 'S3cret-of-the-DBA';

let folders: Folders;
let certificates: Certificates;
let target: Postgres;

beforeAll(async () => {
  folders = makeFolders();
  certificates = makeCertificates();
  target = await startPostgres({ version: 18, direct: true });
});

afterAll(async () => {
  await target?.stop();
  folders?.remove();
});

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const victims: Readonly<Record<string, Victim>> = {
  preflight: { words: ['preflight', '--deadline', '4s', '--allow-private', '--target-version', '18'], limit: 12 },
  // It goes on as long as the source may come back.
  watch: { words: ['watch', '--until-idle', '--interval', '1s'], limit: 25, interruptAfter: 8000 },
  sequences: { words: ['sequences'], limit: 45 },
  rehearse: { words: ['rehearse', '--yes', '--deadline', '4s', '--stall-timeout', '3s'], limit: 45 },
  migrate: { words: ['migrate', cluster, '--deadline', '4s', '--yes'], limit: 20 },
};
/** The others connect with the same function, so that a few behaviours tell for all. */
const samples: Readonly<Record<string, RegExp>> = {
  preflight: /./,
  watch: /2 GB|endless|drip|silent|control|hostile/,
  sequences: /2 GB|endless|drip|silent|control|hostile/,
  rehearse: /announces 2 GB|endless rows|drips a|silent|hostile/,
  migrate: /announces 2 GB|endless rows|drips a|silent|hostile/,
};

const cases = [...fakeLogins, ...fakeTls, ...fakeQueries].flatMap((behaviour) =>
  Object.keys(victims)
    .filter((name) => samples[name]?.test(behaviour.name))
    .map((name) => ({ behaviour, victim: name })),
);

async function attackOf(behaviour: FakeBehaviour, name: string): Promise<void> {
  const victim = victims[name]!;
  const fake = await startFakePostgres(behaviour, behaviour.tls === undefined ? {} : { certificates });
  try {
    const source = `postgres://postgres@127.0.0.1:${fake.port}/shop`;
    const plain = behaviour.tls === undefined ? ['--disable-ssl'] : [];
    const into = name === 'rehearse' ? ['--into', target.url('postgres')] : [];
    const { interruptAfter } = victim;
    const ran = await measuredRun(['db', ...victim.words, '--source', source, ...plain, ...into], {
      folders,
      interruptAfter,
      limit: (victim.limit + 15) * 1000,
      env: {
        PGPASSWORD: password,
        CLOUDCTL_REHEARSE_INTO_PASSWORD: target.password,
        CLOUDCTL_ACCESS_TOKEN: 'a-token',
        CLOUDCTL_BASE_URL: 'http://127.0.0.1:65000',
      },
    });
    endsWell(ran, victim, password);
    expect(fake.received().includes(password)).toBe(false);
  } finally {
    await fake.stop();
  }
}

describe.concurrent('a server that speaks the protocol of PostgreSQL badly', () => {
  for (const { behaviour, victim } of cases) {
    // A target takes one rehearsal at a time.
    const add = victim === 'rehearse' ? test.sequential : test;
    add(`${behaviour.name}: db ${victim}`, () => attackOf(behaviour, victim), 90_000);
  }
});
