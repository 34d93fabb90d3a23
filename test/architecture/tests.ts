import { transformSync } from 'esbuild';
import { folderOf, type Project, type Rule, sources } from './project.ts';
import { syntaxOf } from './syntax.ts';

/** Files without a test of their own, each with what tests them instead. A folder ends with a slash. */
const testedElsewhere: Readonly<Record<string, string>> = {
  'src/entry.ts': 'the end-to-end tests run the whole program',
  'src/standalone.ts': 'test/standalone runs the executable',
  'src/batch/index.ts': 'only passes names on',
};

/** Files that name every command, check or endpoint. Being listed there is no test. */
const registries: readonly string[] = [
  'src/commands/index.ts',
  'src/preflight/postgresql/checks.ts',
  'src/preflight/redis/checks.ts',
  'src/sandbox/routes.ts',
];

/**
 * `src/a/b.ts` is tested by `test/a/b.test.ts`, or by a test of the same folder that imports it. A file that no other folder
 * uses is tested with those of its folder that use it, registries excepted, and a file of types alone has nothing to test.
 */
export const everySourceHasItsTest =
  (excused: Readonly<Record<string, string>> = testedElsewhere): Rule =>
  (project) => {
    const untested = sources(project).filter(
      (path) => !isTested(project, path) && !commandOf(path, project) && !isTypesOnly(project, path),
    );
    const covers = (entry: string, path: string): boolean =>
      path === entry || (entry.endsWith('/') && path.startsWith(entry));
    const entries = Object.keys(excused);
    return [
      ...untested
        .filter((path) => !entries.some((entry) => covers(entry, path)))
        .map((path) => `${path} has no test: ${mirrorOf(path)} is missing, and no test of its folder imports it`),
      ...entries
        .filter((entry) => !untested.some((path) => covers(entry, path)))
        .map((entry) => `${entry} is excused and has a test`),
    ];
  };

/** Each command that the tree loads has a test file of its own: `auth login` has test/commands/auth/login.test.ts. */
export const everyCommandHasItsTest: Rule = (project) =>
  sources(project)
    .filter((path) => commandOf(path, project))
    .filter((path) => !(mirrorOf(path) in project.files))
    .map((path) => `${path} is a command without its test: ${mirrorOf(path)} is missing`);

/** Each preflight check has a file named after its id and a test file of its own. */
export const everyCheckHasItsTest =
  (engines: Readonly<Record<string, readonly string[]>>): Rule =>
  (project) =>
    Object.entries(engines).flatMap(([engine, ids]) =>
      ids.flatMap((id) => {
        const path = `src/preflight/${engine}/checks/${id}.ts`;
        return [
          ...(path in project.files ? [] : [`the ${engine} check ${id} is not in ${path}`]),
          ...(mirrorOf(path) in project.files ? [] : [`the ${engine} check ${id} has no test: ${mirrorOf(path)}`]),
        ];
      }),
    );

export interface Endpoint {
  readonly method: string;
  /** `{…}` stands for one segment. */
  readonly path: string;
}

/** Each endpoint of the sandbox is requested by a test, which names its method and its path. */
export const everyEndpointHasItsTest =
  (endpoints: readonly Endpoint[]): Rule =>
  (project) => {
    const tests = Object.entries(project.files).filter(([path]) =>
      /^test\/(sandbox|e2e\/sandbox|e2e\/login)\/.*\.test\.ts$/.test(path),
    );
    const known = tests.map(([path, source]) => ({ source, literals: syntaxOf(path, source).literals }));
    return endpoints
      .filter(({ method, path }) => {
        // Tests of the admin API leave its prefix out.
        const segments = path.replace(/^\/_sandbox/, '(/_sandbox)?').replaceAll(/\{\w+\}/g, '[^/?]+');
        const pattern = new RegExp(`(^|…|[A-Z] )${segments}($|[?…])`);
        const verb = new RegExp(`\\b${method}\\b|\\b${method.toLowerCase()}\\(`);
        return !known.some(
          ({ source, literals }) =>
            (method === 'GET' || verb.test(source)) && literals.some((literal) => pattern.test(literal)),
        );
      })
      .map(({ method, path }) => `no test of the sandbox requests ${method} ${path}`);
  };

/** docs/architecture.md has one row for each folder, with its layer: `| \`oauth\` | 6 | what it is for |`. */
export const architecturePageIsCurrent =
  (layerNumber: (folder: string) => number | undefined): Rule =>
  (project) => {
    const page = project.files['docs/architecture.md'];
    if (page === undefined) return ['docs/architecture.md is missing'];
    const rows = [...page.matchAll(/^\|\s*`([\w-]+)\/?`\s*\|\s*(\d+|-)\s*\|/gm)].map(([, name, layer]) =>
      rowText(name!, layer!),
    );
    const folders = new Set(sources(project).flatMap((path) => folderOf(path) ?? []));
    const real = [...folders].map((name) => rowText(name, String(layerNumber(name) ?? '-')));
    return [
      ...real.filter((row) => !rows.includes(row)).map((row) => `the page lacks ${row}`),
      ...rows.filter((row) => !real.includes(row)).map((row) => `the page has ${row}, which is not so`),
      ...rows.filter((row, at) => rows.indexOf(row) !== at).map((row) => `the page has ${row} twice`),
    ];
  };

function rowText(name: string, layer: string): string {
  return `${name} in layer ${layer}`;
}

function isTested(project: Project, path: string, seen: readonly string[] = []): boolean {
  if (mirrorOf(path) in project.files) return true;
  const users = project.imports
    .filter(({ to, kind }) => to === path && kind !== 'type')
    .map(({ from }) => from)
    .filter((from) => !registries.includes(from));
  if (users.some((user) => user.startsWith(`test/${folderOf(path)}/`))) return true;
  const own = [...new Set(users)].filter((user) => user.startsWith('src/') && !seen.includes(user));
  return (
    own.every((user) => folderOf(user) === folderOf(path)) &&
    own.some((user) => isTested(project, user, [...seen, path]))
  );
}

/** Whether the tree of commands loads this file when its words are typed. */
function commandOf(path: string, project: Project): boolean {
  return project.imports.some(
    ({ from, to, kind }) => to === path && from === 'src/commands/index.ts' && kind === 'dynamic',
  );
}

function mirrorOf(path: string): string {
  return path.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts');
}

function isTypesOnly(project: Project, path: string): boolean {
  return transformSync(project.files[path]!, { loader: 'ts', format: 'esm' }).code.trim() === '';
}
