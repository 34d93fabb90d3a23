import { folderOf, type Import, type Project, type Rule } from './project.ts';

/** Top to bottom. A folder of src imports from lower layers only: not from a higher one, not from its own. */
export const layers: readonly (readonly string[])[] = [
  ['entry', 'standalone'],
  ['main'],
  ['commands', 'help-topics', 'library'],
  ['context', 'rehearsal', 'inventory'],
  ['session', 'batch', 'preflight', 'watch', 'engine', 'doctor', 'conformance'],
  ['db-source', 'shared-store'],
  ['oauth', 'loopback', 'api', 'postgresql', 'redis', 'cli', 'config'],
  ['platform'],
  ['errors', 'secret', 'json', 'sanitize', 'version', 'identity'],
  ['exact'],
];

/** The sandbox implements the specification independently of the client, so it belongs to no layer. */
const closed = 'sandbox';

/** What `--version`, stored help and a quick `auth token` need; everything else is loaded later. */
const entryMayImport =
  /^src\/(version\.ts|cli\/stored-help\.ts|config\/.+|session\/(credential-record|profile-paths|read-access-token-on-fast-path)\.ts|platform\/.+)$/;

export const everyFolderHasALayer: Rule = (project) => {
  const known = new Set([...layers.flat(), closed]);
  const folders = Object.keys(project.files).flatMap((path) => folderOf(path) ?? []);
  return [...new Set(folders)].filter((name) => !known.has(name)).map((name) => `src/${name} has no layer`);
};

export const importsLeadDown: Rule = (project) =>
  between(project)
    .filter(({ upper, lower }) => upper !== closed && lower !== closed && layerOf(upper) >= layerOf(lower))
    .map(({ edge, upper, lower }) => `${describe(edge)} (${upper} is not above ${lower})`);

/** Folders that are imported through their index.ts only. */
export const doors: readonly string[] = ['batch'];

export const foldersAreEnteredByTheirDoor: Rule = (project) =>
  between(project)
    .filter(({ edge, lower }) => doors.includes(lower) && edge.to !== `src/${lower}/index.ts`)
    .map(({ edge }) => describe(edge));

export const doorsOnlyPassOn: Rule = (project) =>
  doors.flatMap((folder) => {
    const path = `src/${folder}/index.ts`;
    const lines = (project.files[path] ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('//'));
    return lines.filter((line) => !/^export \{.*\} from '.*';$/.test(line)).map((line) => `${path}: ${line}`);
  });

export const sandboxImportsOnlyTheEngine: Rule = (project) =>
  between(project)
    .filter(({ upper, lower }) => upper === closed && lower !== 'engine')
    .map(({ edge }) => describe(edge));

export const sandboxIsImportedByItsCommands: Rule = (project) =>
  project.imports
    .filter(({ from, to }) => folderOf(to) === closed && folderOf(from) !== closed)
    .filter(({ from }) => !/^(test\/|src\/commands\/sandbox[./]|src\/library\/sandbox)/.test(from))
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

interface Crossing {
  readonly edge: Import;
  readonly upper: string;
  readonly lower: string;
}

/** The imports that lead from one folder of src into another. */
function between(project: Project): readonly Crossing[] {
  return project.imports.flatMap((edge) => {
    const upper = folderOf(edge.from);
    const lower = folderOf(edge.to);
    return upper === undefined || lower === undefined || upper === lower ? [] : [{ edge, upper, lower }];
  });
}

/** A folder that has no layer is reported by a rule of its own and passes here. */
function layerOf(name: string): number {
  return layerNumber(name) ?? Number.NaN;
}

function describe({ from, to }: Import): string {
  return `${from} imports ${to}`;
}
