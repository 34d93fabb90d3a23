import { type Import, type Project, type Rule, sources } from './project.ts';
import { statementsThatPassNothingOn, syntaxOf } from './syntax.ts';

/**
 * The rooms of src, top to bottom. A room is a folder, or a file directly in src; a wing (`auth`, `db`) has several, named with
 * it (`db/engine`). A room imports from lower layers only: not from a higher one, not from another room of its own layer.
 */
export const layers: readonly (readonly string[])[] = [
  ['entry', 'standalone'],
  ['main'],
  ['commands', 'help-topics', 'library'],
  ['context', 'db/cutover', 'db/inventory', 'auth/doctor'],
  ['auth/session', 'droplets', 'db/preflight', 'db/watch', 'db/engine'],
  ['db/source'],
  ['auth/oauth', 'auth/loopback', 'api', 'postgresql', 'redis', 'cli', 'config'],
  ['platform'],
  ['base'],
];

/**
 * The rooms that are entered by their doors only: `index.ts`, and where start-up or the library needs a part alone, another
 * door named by its purpose.
 */
export const doors: Readonly<Record<string, readonly string[]>> = {
  droplets: ['index.ts'],
  'auth/loopback': ['index.ts'],
  'auth/oauth': ['index.ts'],
  'auth/doctor': ['index.ts'],
  'auth/session': ['index.ts', 'token.ts', 'core.ts'],
  'db/source': ['index.ts'],
  'db/watch': ['index.ts', 'record.ts'],
  'db/preflight': [
    'index.ts',
    // The parts of an inventory, of other reports, and of a comparison; the registries.
    'engines.ts',
    'formats/index.ts',
    'queries.ts',
    'postgresql/checks.ts',
    'redis/checks.ts',
  ],
  'db/engine': ['index.ts', 'tools.ts'],
  'db/cutover': ['index.ts', 'rehearse/index.ts'],
};

/** The sandbox implements the specification independently of the client, so it belongs to no layer. */
const closed = 'sandbox';

/** What `--version`, stored help and a quick `auth token` need; everything else is loaded later. */
const entryMayImport =
  /^src\/(base\/version\.ts|cli\/stored-help\.ts|config\/.+|auth\/session\/token\.ts|platform\/.+)$/;

export const everyRoomHasALayer: Rule = (project) => {
  const found = Object.keys(project.files).flatMap((path) => roomOf(path) ?? []);
  return [...new Set(found)].filter((name) => !rooms.has(name)).map((name) => `src/${name} has no layer`);
};

export const importsLeadDown: Rule = (project) =>
  between(project)
    .filter(({ upper, lower }) => upper !== closed && lower !== closed && layerOf(upper) >= layerOf(lower))
    .map(({ edge, upper, lower }) => `${describe(edge)} (${upper} is not above ${lower})`);

export const roomsAreEnteredByTheirDoors: Rule = (project) =>
  between(project)
    .filter(({ edge, lower }) => lower in doors && !doorPaths(lower).includes(edge.to))
    .map(({ edge }) => describe(edge));

/** A second door is the cheap part itself. */
export const doorsOnlyPassOn: Rule = (project) =>
  Object.keys(doors)
    .filter((room) => Object.keys(project.files).some((path) => roomOf(path) === room))
    .map((room) => `src/${room}/index.ts`)
    .flatMap((path) => {
      const text = project.files[path];
      if (text === undefined) return [`${path} is missing`];
      return statementsThatPassNothingOn(path, text).map((line) => `${path}: ${line}`);
    });

/** One name has one meaning within a room: an exported name is declared in one file of it. */
export const namesAreUniqueInTheirRoom: Rule = (project) => {
  const files = new Map<string, string[]>();
  for (const path of sources(project)) {
    for (const name of new Set(syntaxOf(path, project.files[path]!).declaredExports)) {
      const key = `${name} of ${roomOf(path)}`;
      files.set(key, [...(files.get(key) ?? []), path]);
    }
  }
  return [...files]
    .filter(([, paths]) => paths.length > 1)
    .map(([key, paths]) => `${key} is exported by ${paths.join(', ')}`);
};

export const sandboxImportsOnlyTheEngine: Rule = (project) =>
  between(project)
    .filter(({ upper, lower }) => upper === closed && lower !== 'db/engine')
    .map(({ edge }) => describe(edge));

export const sandboxIsImportedByItsCommands: Rule = (project) =>
  project.imports
    .filter(({ from, to }) => roomOf(to) === closed && roomOf(from) !== closed)
    .filter(({ from }) => !/^(test\/|src\/commands\/sandbox[./]|src\/library\/sandbox)/.test(from))
    .map(describe);

/** An error of the program's client must not hide the same error of the sandbox. */
export const conformanceHasItsOwnClient: Rule = (project) =>
  project.imports
    .filter(({ from }) => from.startsWith('test/conformance/') && !from.endsWith('.test.ts'))
    .filter(({ to }) => /^src\/(?!base\/|sandbox\/)/.test(to))
    .map(describe);

export const entryImportsLittle: Rule = (project) =>
  project.imports
    .filter(({ from }) => from === 'src/entry.ts')
    .filter(({ to, kind }) => {
      if (to === 'src/main.ts') return kind === 'value';
      return !to.startsWith('node:') && !entryMayImport.test(to);
    })
    .map(describe);

export const sourcesImportNoTests: Rule = (project) =>
  project.imports.filter(({ from, to }) => from.startsWith('src/') && /^(test|scripts|bench)\//.test(to)).map(describe);

/** The number of its layer, the top one being 1; undefined for a folder without a layer. */
export function layerNumber(name: string): number | undefined {
  const at = layers.findIndex((layer) => layer.includes(name));
  return at < 0 ? undefined : at + 1;
}

const rooms = new Set([...layers.flat(), closed]);

/**
 * The room of a file: `droplets` for a file of src/droplets, `db/engine` for one of src/db/engine, `main` for src/main.ts;
 * undefined outside src.
 */
export function roomOf(path: string): string | undefined {
  const [, first, second] = /^src\/([^/.]+)(?:\/([^/.]+)\/)?/.exec(path) ?? [];
  return rooms.has(`${first}/${second}`) ? `${first}/${second}` : first;
}

function doorPaths(room: string): readonly string[] {
  return (doors[room] ?? []).map((door) => `src/${room}/${door}`);
}

interface Crossing {
  readonly edge: Import;
  readonly upper: string;
  readonly lower: string;
}

/** The imports that lead from one room into another. */
function between(project: Project): readonly Crossing[] {
  return project.imports.flatMap((edge) => {
    const upper = roomOf(edge.from);
    const lower = roomOf(edge.to);
    return upper === undefined || lower === undefined || upper === lower ? [] : [{ edge, upper, lower }];
  });
}

/** A room that has no layer is reported by a rule of its own and passes here. */
function layerOf(name: string): number {
  return layerNumber(name) ?? Number.NaN;
}

function describe({ from, to }: Import): string {
  return `${from} imports ${to}`;
}
