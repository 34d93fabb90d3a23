import { roomOf } from './layers.ts';
import { type Project, type Rule, sources } from './project.ts';
import { syntaxOf } from './syntax.ts';

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
        const path = `src/db/preflight/${engine}/checks/${id}.ts`;
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
      .map(({ method, path }) => `no test of the sandbox names ${method} ${path} in one literal`);
  };

/** docs/architecture.md has one row for each room, with its layer: `| \`auth/oauth\` | 7 | what it is for |`. */
export const architecturePageIsCurrent =
  (layerNumber: (room: string) => number | undefined): Rule =>
  (project) => {
    const page = project.files['docs/architecture.md'];
    if (page === undefined) return ['docs/architecture.md is missing'];
    const rows = [...page.matchAll(/^\|\s*`([\w/-]+)`\s*\|\s*(\d+|-)\s*\|/gm)].map(([, name, layer]) =>
      rowText(name!, layer!),
    );
    const rooms = new Set(sources(project).flatMap((path) => roomOf(path) ?? []));
    const real = [...rooms].map((name) => rowText(name, String(layerNumber(name) ?? '-')));
    return [
      ...real.filter((row) => !rows.includes(row)).map((row) => `the page lacks ${row}`),
      ...rows.filter((row) => !real.includes(row)).map((row) => `the page has ${row}, which is not so`),
      ...rows.filter((row, at) => rows.indexOf(row) !== at).map((row) => `the page has ${row} twice`),
    ];
  };

function rowText(name: string, layer: string): string {
  return `${name} in layer ${layer}`;
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
