import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { serverTests } from './scripts/test-files.mjs';

const root = fileURLToPath(new URL('.', import.meta.url));

/** The built program under faults and attacks, and migrations between real servers. */
const hard = ['test/attack/**/*.test.ts', 'test/faults/**/*.test.ts', 'test/truth/**/*.test.ts'];

/** The one end-to-end test that needs nothing but Node. */
const story = ['test/e2e/story.test.ts'];

/** Hostile servers and owners of databases against the built program. */
const adversary = ['test/adversary/**/*.test.ts'];

/** The executable that contains Node. */
const standalone = ['test/standalone/**/*.test.ts'];

const builtProgram = ['test/e2e/**', ...hard, ...adversary, ...standalone];

/** Tests that leave their process as they found it, so that they can share one: starting a process takes longer than most of them run. */
const shared = [
  'test/*.test.ts',
  'test/{api,architecture,batch,cli,commands,config,context,doctor,loopback,oauth,sanitize,session}/**/*.test.ts',
  'test/preflight/formats/**/*.test.ts',
  'test/preflight/postgresql/function-body/**/*.test.ts',
  'test/sandbox/{admin,faults,http,oauth}/**/*.test.ts',
];

const servers = serverTests(root).filter(
  (path) => !/^test\/(adversary|e2e|attack|faults|standalone|truth)\//.test(path),
);

/** Files that take minutes although they are small. Vitest begins with the largest files, and would run these alone at the end. */
const slowFiles = [
  'test/e2e/contributing.test.ts',
  'test/preflight/postgresql/cut-off.test.ts',
  'test/truth/mutations.test.ts',
  'test/truth/postgresql.test.ts',
];

class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean =>
      slowFiles.some((path) => moduleId.endsWith(`/${path}`));
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

// `light` and `unit` test the sources and need nothing but Node, `servers` needs real servers as well; `story`, `e2e`,
// `hard` and `adversary` run the built program, `standalone` its executable.
export default defineConfig({
  test: {
    maxWorkers: 2,
    environment: 'node',
    sequence: { sequencer: SlowFilesFirst },
    projects: [
      {
        test: {
          name: 'light',
          include: shared,
          exclude: servers,
          isolate: false,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...builtProgram, ...shared, ...servers],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'servers',
          include: servers,
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'story',
          include: story,
          globalSetup: ['scripts/build-before-tests.mjs'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: story,
          globalSetup: ['scripts/build-before-tests.mjs'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'standalone',
          include: standalone,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'hard',
          include: hard,
          globalSetup: ['scripts/build-before-tests.mjs'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'adversary',
          include: adversary,
          // Most of the time goes by in waiting for time limits.
          maxConcurrency: 8,
          globalSetup: ['scripts/build-before-tests.mjs'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
