import { fileURLToPath } from 'node:url';
import { defineConfig, type UserWorkspaceConfig } from 'vitest/config';
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

const servers = serverTests(root).filter(
  (path) => !/^test\/(adversary|e2e|attack|faults|standalone|truth)\//.test(path),
);

/** Files that take minutes although they are small. Vitest begins with the largest files, and would run these alone at the end. */
const slowFiles = [
  'test/e2e/contributing.test.ts',
  'test/db/preflight/postgresql/cut-off.test.ts',
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

type ProjectConfig = NonNullable<UserWorkspaceConfig['test']>;

/** Of every project: fails the run when a golden section is read by no test. */
const unreadGolden = 'scripts/unread-golden.mjs';

const buildFirst = { globalSetup: ['scripts/build-before-tests.mjs', unreadGolden] };

// `unit` tests the sources and needs nothing but Node, `servers` needs real servers as well; `story`, `e2e`, `hard` and
// `adversary` run the built program, `standalone` its executable.
export default defineConfig({
  test: {
    maxWorkers: 2,
    // Stages, and the tutorials of docs/contributing, transform the same sources.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.side/vitest-cache' },
    sequence: { sequencer: SlowFilesFirst },
    projects: [
      project('unit', ['test/**/*.test.ts'], { exclude: [...builtProgram, ...servers], testTimeout: 20_000 }),
      project('servers', servers, { testTimeout: 20_000 }),
      project('story', story, { ...buildFirst, testTimeout: 60_000, hookTimeout: 60_000 }),
      project('e2e', ['test/e2e/**/*.test.ts'], { ...buildFirst, exclude: story }),
      project('standalone', standalone),
      project('hard', hard, { ...buildFirst, testTimeout: 300_000 }),
      // Most of the time goes by in waiting for time limits.
      project('adversary', adversary, { ...buildFirst, maxConcurrency: 8 }),
    ],
  },
});

/** Test files share the processes of the workers, because to start one takes longer than most files: each leaves it as it was. */
function project(name: string, include: readonly string[], options: ProjectConfig = {}): UserWorkspaceConfig {
  const defaults = { testTimeout: 120_000, hookTimeout: 120_000, globalSetup: [unreadGolden] };
  return { test: { name, include: [...include], isolate: false, ...defaults, ...options } };
}
