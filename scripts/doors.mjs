import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { parseSync } from 'oxc-parser';

/**
 * A room of src is imported through its door, a file that only passes names on. esbuild would put everything that a door passes on
 * into the packs of each command that uses one name of it, so the build imports the files behind the doors.
 */
export function throughDoors() {
  const doors = new Map();
  const behind = (path) => {
    if (!doors.has(path)) doors.set(path, namesBehind(path, behind));
    return doors.get(path);
  };
  return {
    name: 'doors',
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
        contents: withoutDoors(path, readFileSync(path, 'utf8'), behind),
        loader: 'ts',
        resolveDir: dirname(path),
      }));
    },
  };
}

/**
 * The text of a file with the files behind doors in its imports. `import { a as b } from`, `export { a } from`,
 * `(await import(door)).a` and `const { a, b } = await import(door)` can be looked through; another form that would load a whole
 * room throws.
 */
function withoutDoors(path, text, behind) {
  const doorOf = (node) => {
    if (node?.type !== 'Literal' || typeof node.value !== 'string' || !/^\.\.?\/.*\.ts$/.test(node.value))
      return undefined;
    return behind(join(dirname(path), node.value));
  };
  if (!/\bfrom\s*'\.|\bimport\s*\(/.test(text)) return text;
  const changes = [];
  const change = (node, words) => changes.push({ start: node.start, end: node.end, words });
  const specifier = ({ file }) => `'./${relative(dirname(path), file).replaceAll('\\', '/')}'`;
  const fileOf = (names, name) => {
    const found = names.get(name);
    if (found === undefined) throw new Error(`${path}: a door does not pass ${name} on`);
    return found;
  };
  const visit = (node, parents) => {
    if (node.type === 'ImportDeclaration' || node.type === 'ExportNamedDeclaration') {
      const names = node.source && doorOf(node.source);
      if (names && (node.importKind ?? node.exportKind) !== 'type') {
        const lines = node.specifiers
          .filter((one) => (one.importKind ?? one.exportKind) !== 'type')
          .map((one) => {
            const outer = one.imported ?? one.local;
            if (outer?.type !== 'Identifier' || one.type === 'ImportNamespaceSpecifier')
              throw new Error(`${path}: ${wholeRoom}`);
            const found = fileOf(names, outer.name);
            const inner = (one.type === 'ImportSpecifier' ? one.local : one.exported).name;
            const verb = one.type === 'ImportSpecifier' ? 'import' : 'export';
            return `${verb} { ${found.name} as ${inner} } from ${specifier(found)};`;
          });
        change(node, lines.join(' '));
      }
    }
    if (node.type === 'ImportExpression') {
      const names = doorOf(node.source);
      if (names) lookThroughImport(node, names, parents);
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child === 'object' && child !== null && typeof child.type === 'string')
          visit(child, [node, ...parents]);
      }
    }
  };
  const lookThroughImport = (node, names, [parent, ...others]) => {
    if (parent?.type !== 'AwaitExpression') throw new Error(`${path}: ${wholeRoom}`);
    const user = others.find(({ type }) => type !== 'ParenthesizedExpression');
    if (user?.type === 'MemberExpression' && !user.computed) {
      const found = fileOf(names, user.property.name);
      change(node, `import(${specifier(found)})`);
      change(user.property, found.name);
    } else if (user?.type === 'VariableDeclarator' && user.id.type === 'ObjectPattern') {
      const parts = user.id.properties.map(({ key }) => {
        const found = fileOf(names, key.name);
        return `${key.name}: (await import(${specifier(found)})).${found.name}`;
      });
      change(parent, `{ ${parts.join(', ')} }`);
    } else throw new Error(`${path}: ${wholeRoom}`);
  };
  visit(parseSync(path, text).program, []);
  return changes
    .toSorted((a, b) => b.start - a.start)
    .reduce((changed, { start, end, words }) => `${changed.slice(0, start)}${words}${changed.slice(end)}`, text);
}

const wholeRoom = 'this form of import would load the whole room behind a door';

/** The file and the name behind each name that a door passes on, values only; undefined if the file is no door. */
function namesBehind(path, behind) {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, 'utf8');
  if (!/^export \{/m.test(text) || /^(import|const|function|class|export (?!\{|type \{))\b/m.test(text))
    return undefined;
  const { body } = parseSync(path, text).program;
  if (body.some((node) => node.type !== 'ExportNamedDeclaration' || !node.source?.value.startsWith('.')))
    return undefined;
  const exports = /** @type {import('oxc-parser').ExportNamedDeclaration[]} */ (body);
  const values = exports.filter(({ exportKind }) => exportKind !== 'type');
  return new Map(
    values.flatMap(({ specifiers, source }) =>
      specifiers
        .filter(({ exportKind }) => exportKind !== 'type')
        .map((/** @type {any} */ { local, exported }) => {
          const file = join(dirname(path), source.value);
          return [exported.name, behind(file)?.get(local.name) ?? { file, name: local.name }];
        }),
    ),
  );
}
