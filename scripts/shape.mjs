// `node scripts/shape.mjs [FOLDER]` prints the shape of the sources in one line: their size, the exported names, how many files of
// the rooms of the wings are entered from other rooms, the types that gather dependencies, and the small files. With a folder of
// src (`droplets`, `db/engine`), only of that. It has no bounds: docs/architecture.md says what the numbers are for.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'es-module-lexer';
import { parseSync } from 'oxc-parser';
import { root } from './run-vitest.mjs';

/** Rooms of the three wings. */
const wings = /^(?:auth\/\w+|droplets|db\/\w+)$/;
const smallest = 30;

/** The shape of src, or of the files below `folder` of it. */
export function shape(folder = '') {
  const files = new Map(
    sources(join(root, 'src')).map((path) => [path, readFileSync(join(root, 'src', path), 'utf8')]),
  );
  const isInside = (path) => folder === '' || path.startsWith(`${folder}/`) || path === `${folder}.ts`;
  const inside = [...files].filter(([path]) => isInside(path));
  const declared = inside.flatMap(([path, text]) => parseSync(path, text).program.body.flatMap(declarations));
  const names = declared.filter(({ isExported }) => isExported).map(({ name }) => name);
  const gathering = declared.filter(
    ({ name, members }) => members !== undefined && /(?:Deps|Dependencies)$/.test(name),
  );
  const leaves = new Set(imports('commands/index.ts', files.get('commands/index.ts') ?? '').map(({ to }) => to));
  const entered = new Set(
    [...files].flatMap(([path, text]) =>
      imports(path, text)
        .filter(({ to }) => files.has(to) && isInside(to) && wings.test(roomOf(to)) && roomOf(to) !== roomOf(path))
        .map(({ to }) => to),
    ),
  );
  const small = inside.filter(
    ([path, text]) =>
      lines(text) < smallest &&
      !leaves.has(path) &&
      !path.includes('/checks/') &&
      !posix.basename(path).startsWith('index.'),
  );
  return {
    files: inside.length,
    lines: inside.reduce((sum, [, text]) => sum + lines(text), 0),
    names: names.length,
    words: names.reduce((sum, name) => sum + words(name), 0) / Math.max(1, names.length),
    entered: entered.size,
    gathering: gathering.length,
    members: gathering.reduce((sum, { members }) => sum + members, 0),
    small: small.length,
  };
}

export function shapeLine(folder = '') {
  const { files, lines, names, words, entered, gathering, members, small } = shape(folder);
  return (
    `${folder || 'src'}: ${lines} lines in ${files} files, ${names} exported names of ${words.toFixed(1)} words, ` +
    `${entered} files of wings entered from other rooms, ${gathering} types of dependencies with ${members} members, ` +
    `${small} files under ${smallest} lines`
  );
}

function sources(folder) {
  return readdirSync(folder, { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .sort();
}

function lines(text) {
  return text.trimEnd().split('\n').length;
}

/** `auth/session` and `db/engine` are rooms of their wings; elsewhere the first folder is the room. */
function roomOf(path) {
  return /^(?:auth|db)\/\w+(?=\/)|^[^/.]+/.exec(path)?.[0] ?? '';
}

function imports(path, text) {
  const [found] = parse(text, path);
  return found.flatMap(({ specifier }) =>
    specifier?.startsWith('.') ? [{ to: posix.join(posix.dirname(path), specifier) }] : [],
  );
}

/** What a statement declares: names, and for types made of members their number. */
function declarations(node) {
  const isExported = node.type === 'ExportNamedDeclaration';
  const declaration = isExported ? node.declaration : node;
  if (declaration?.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) =>
      id.type === 'Identifier' ? [{ name: id.name, isExported }] : [],
    );
  }
  if (declaration?.id?.type !== 'Identifier') return [];
  const members = declaration.body?.body ?? declaration.typeAnnotation?.members;
  const isType = /^TS(?:Interface|TypeAlias)Declaration$/.test(declaration.type);
  return [{ name: declaration.id.name, isExported, members: isType ? (members?.length ?? 0) : undefined }];
}

/** Words of a camelCase or UPPER_CASE name. */
function words(name) {
  return name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g)?.length ?? 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(shapeLine(process.argv[2]));
