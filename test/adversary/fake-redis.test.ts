import { afterAll, beforeAll, describe, test } from 'vitest';
import { type Folders, makeFolders } from '../fixtures/folders.ts';
import { type RedisServer, startRedis } from '../fixtures/redis.ts';
import { type FakeRedisBehaviour, fakeRedisBehaviours, startFakeRedis } from './fake-redis.ts';
import { endsWell, measuredRun, type Victim } from './measured-run.ts';

const password = 'S3cret-of-the-DBA';
let folders: Folders;
let target: RedisServer;

beforeAll(async () => {
  folders = makeFolders();
  target = await startRedis();
});

afterAll(async () => {
  await target?.stop();
  folders?.remove();
});

const cluster = '3b643ad7-65aa-4066-b45b-1c64b6db600a';
const victims: Readonly<Record<string, Victim>> = {
  preflight: { words: ['preflight', '--deadline', '4s', '--allow-private', '--target-version', '7.2'], limit: 12 },
  // It goes on as long as the source may come back.
  watch: { words: ['watch', '--until-idle', '--interval', '1s'], limit: 25, interruptAfter: 8000 },
  rehearse: { words: ['rehearse', '--yes', '--deadline', '4s', '--stall-timeout', '3s'], limit: 45 },
  migrate: { words: ['migrate', cluster, '--deadline', '4s', '--yes'], limit: 20 },
};
const samples: Readonly<Record<string, RegExp>> = {
  preflight: /./,
  watch: /./,
  rehearse: /2 GB|nests lists|endless replies|drips|silent|hostile/,
  migrate: /2 GB|nests lists|endless replies|drips|silent|hostile/,
};

async function attackOf(behaviour: FakeRedisBehaviour, name: string): Promise<void> {
  const victim = victims[name]!;
  const fake = await startFakeRedis(behaviour);
  const into = name === 'rehearse' ? ['--into', `redis://${target.host}:${target.port}`] : [];
  try {
    const source = ['--source', `redis://127.0.0.1:${fake.port}`, '--disable-ssl'];
    const { words, interruptAfter } = victim;
    const ran = await measuredRun(['db', ...words, ...source, ...into], {
      folders,
      interruptAfter,
      limit: (victim.limit + 15) * 1000,
      env: { CLOUDCTL_ACCESS_TOKEN: 'a-token', CLOUDCTL_BASE_URL: 'http://127.0.0.1:65000' },
    });
    endsWell(ran, victim, password);
  } finally {
    await fake.stop();
  }
}

describe.concurrent('a server that speaks the protocol of Redis badly', () => {
  for (const behaviour of fakeRedisBehaviours) {
    for (const name of Object.keys(victims).filter((one) => samples[one]?.test(behaviour.name))) {
      // A target takes one rehearsal at a time.
      const add = name === 'rehearse' ? test.sequential : test;
      add(`${behaviour.name}: db ${name} of Redis`, () => attackOf(behaviour, name), 90_000);
    }
  }
});
