import { defineConfig } from 'vitest/config';

/** Suites about what breaks: the built program under faults and attacks, and migrations of real servers. */
const hard = ['test/attack/**/*.test.ts', 'test/faults/**/*.test.ts', 'test/truth/**/*.test.ts'];

/** Suites of the sources that leave their process as they found it: to start one for each file takes longer than most of them. */
const light = [
  'test/*.test.ts',
  'test/{api,architecture,batch,cli,commands,config,context,doctor,loopback,oauth,session}/**/*.test.ts',
  'test/preflight/formats/**/*.test.ts',
  'test/preflight/postgresql/body/**/*.test.ts',
  'test/sandbox/{admin,faults,http,oauth}/**/*.test.ts',
];

// The light and the unit project run the sources; the others run the built bundle against real servers, so they are patient: two files at a time, three of e2e (scripts/test.mjs), each with servers and folders of its own.
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'light',
          include: light,
          environment: 'node',
          isolate: false,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', ...hard, ...light],
          environment: 'node',
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: ['scripts/built.mjs'],
          environment: 'node',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'hard',
          include: hard,
          globalSetup: ['scripts/built.mjs'],
          environment: 'node',
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
