import { posix } from 'node:path';
import { type Node, parseSync } from 'oxc-parser';
import { type Project, sources } from './project.ts';

/** The words of one hint in the sources; `…` stands for each part that is only known at run time. */
export interface HintText {
  readonly file: string;
  readonly text: string;
}

/**
 * Every text that the sources give as a hint: the value of a property `hint`, what a parameter of that name is given, and what
 * a variable or function of such a name has; and each warning with a command. Functions and constants are followed into their files, where their texts belong.
 */
export function hintTexts(project: Project): readonly HintText[] {
  const files = new Map(sources(project).map((path) => [path, readFile(path, project.files[path] ?? '')] as const));
  const found = new Map<string, HintText>();
  const add = (file: string, node: Node | undefined, pattern = /[a-z]/): void => {
    for (const one of new Reading(files).texts(file, node)) {
      if (pattern.test(one.text) && /[ `]/.test(one.text)) found.set(`${one.file}\n${one.text}`, one);
    }
  };
  for (const [path, file] of files) {
    for (const given of file.given) add(path, given);
    for (const warning of file.warnings) add(path, warning, /`/);
    for (const { name, args } of file.calls) {
      const at = parameterOf(files, path, name);
      if (at !== undefined) add(path, args[at]);
    }
  }
  return [...found.values()].sort((a, b) => (`${a.file}\n${a.text}` < `${b.file}\n${b.text}` ? -1 : 1));
}

/**
 * The texts that a printed hint is, and those that it contains, such as the command within a sentence.
 * @param from the files of the hint, if its words stand in several; throws if they are needed and absent
 */
export function executedTexts(texts: readonly HintText[], hint: string, from?: readonly string[]): readonly HintText[] {
  const found = texts.flatMap((one) => {
    const parts = one.text.replaceAll(/\b(127\.0\.0\.1|localhost):\d+/g, '$1:PORT').split(unknown);
    const pattern = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^]*');
    const { length } = parts.join('');
    // Some hints end in the command that is known where they are printed.
    const isWhole = new RegExp(`^${pattern}(: \`[^\`]*\`)?$`).test(hint);
    // A short text could stand in another one by chance.
    return isWhole || (length >= 16 && new RegExp(pattern).test(hint)) ? [{ one, length, isWhole }] : [];
  });
  const whole = found.filter(({ one, isWhole }) => isWhole && from?.includes(one.file) !== false);
  const longest = Math.max(...whole.map(({ length }) => length));
  const main = whole.filter(({ length }) => length === longest).map(({ one }) => one);
  if (main.length === 0) throw new Error(`no text of the sources is this hint: ${hint}`);
  const files = new Set(main.map(({ file }) => file));
  if (files.size > 1 && from === undefined)
    throw new Error(`the words of this hint stand in ${[...files].join(', ')}: ${hint}`);
  // What stands in several files is counted only where it is the hint.
  const isUnique = (text: string): boolean => texts.filter((other) => other.text === text).length === 1;
  return [...main, ...found.filter(({ one, isWhole }) => !isWhole && isUnique(one.text)).map(({ one }) => one)];
}

const isHintName = (name: string): boolean => /^hints?$|Hints?$|^elsewhere$/.test(name);

type Pattern = { readonly node: Node; readonly index: number | undefined; readonly key: string | undefined };

interface SourceFile {
  readonly given: readonly Node[];
  readonly warnings: readonly Node[];
  readonly calls: readonly { readonly name: string; readonly args: readonly Node[] }[];
  /** Initial values and assigned values of variables. */
  readonly values: ReadonlyMap<string, readonly Pattern[]>;
  readonly functions: ReadonlyMap<string, Node>;
  /** By local name: the file and the name there. */
  readonly imports: ReadonlyMap<string, readonly [string, string]>;
}

function readFile(path: string, source: string): SourceFile {
  const { program } = parseSync(path, source);
  const given: Node[] = [];
  const warnings: Node[] = [];
  const calls: { name: string; args: readonly Node[] }[] = [];
  const values = new Map<string, Pattern[]>();
  const functions = new Map<string, Node>();
  const imports = new Map<string, readonly [string, string]>();
  const put = (name: string, value: Pattern): void => void values.set(name, [...(values.get(name) ?? []), value]);
  const bind = (id: Node, node: Node): void => {
    if (id.type === 'Identifier') put(id.name, { node, index: undefined, key: undefined });
    if (id.type === 'ArrayPattern')
      id.elements.forEach((element, index) => {
        if (element?.type === 'Identifier') put(element.name, { node, index, key: undefined });
      });
    if (id.type === 'ObjectPattern')
      for (const property of id.properties)
        if (property.type === 'Property' && property.value.type === 'Identifier')
          put(property.value.name, { node, index: undefined, key: keyOf(property.key) });
  };
  visit(program, (node) => {
    if (node.type === 'ImportDeclaration' || (node.type === 'ExportNamedDeclaration' && node.source !== null)) {
      const to = posix.join(posix.dirname(path), node.source?.value ?? '');
      for (const one of node.specifiers) {
        if (one.type === 'ImportSpecifier') imports.set(one.local.name, [to, keyOf(one.imported) ?? '']);
        if (one.type === 'ExportSpecifier') imports.set(keyOf(one.exported) ?? '', [to, keyOf(one.local) ?? '']);
      }
    }
    if (node.type === 'Property' && isHintName(keyOf(node.key) ?? '') && !isPatternValue(node.value))
      given.push(node.value);
    if (node.type === 'VariableDeclarator' && node.init !== null) {
      bind(node.id, node.init);
      if (node.id.type === 'Identifier') {
        if (/^(Arrow)?Function/.test(node.init.type)) functions.set(node.id.name, node.init);
        if (isHintName(node.id.name)) given.push(node.init);
      }
    }
    if (node.type === 'AssignmentExpression') bind(node.left, node.right);
    if (node.type === 'FunctionDeclaration' && node.id !== null) {
      functions.set(node.id.name, node);
      if (isHintName(node.id.name)) given.push(node);
    }
    if (node.type === 'AssignmentPattern' && node.left.type === 'Identifier' && isHintName(node.left.name))
      given.push(node.right);
    if (node.type === 'MethodDefinition' && keyOf(node.key) === 'constructor')
      functions.set(classAt(program, node), node.value);
    if (node.type === 'CallExpression' || node.type === 'NewExpression') {
      const name = node.callee.type === 'Identifier' ? node.callee.name : undefined;
      if (name !== undefined) calls.push({ name, args: node.arguments });
      const { callee } = node;
      const isWarning = callee.type === 'MemberExpression' && keyOf(callee.property) === 'warn';
      if (isWarning && node.arguments[0] !== undefined) warnings.push(node.arguments[0]);
    }
  });
  return { given, warnings, calls, values, functions, imports };
}

function isPatternValue(node: Node): boolean {
  return node.type === 'AssignmentPattern';
}

function classAt(program: Node, method: Node): string {
  let name = '';
  visit(program, (node) => {
    if (node.type === 'ClassDeclaration' && node.id !== null && node.start < method.start && method.end < node.end)
      name = node.id.name;
  });
  return name;
}

function keyOf(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
}

type Files = ReadonlyMap<string, SourceFile>;

/** Where a name is declared, through imports and doors. */
function declaredAt(files: Files, path: string, name: string): readonly [string, string] {
  const found = files.get(path)?.imports.get(name);
  return found === undefined ? [path, name] : declaredAt(files, ...found);
}

/** Which argument of the function is a hint. */
function parameterOf(files: Files, path: string, called: string): number | undefined {
  const [file, name] = declaredAt(files, path, called);
  const node = files.get(file)?.functions.get(name);
  if (node === undefined || !('params' in node)) return undefined;
  const at = node.params.findIndex((one) => {
    const parameter = one.type === 'AssignmentPattern' ? one.left : one;
    return parameter.type === 'Identifier' && isHintName(parameter.name);
  });
  return at === -1 ? undefined : at;
}

const unknown = '…';

class Reading {
  readonly #files: Files;
  readonly #followed = new Set<string>();

  constructor(files: Files) {
    this.#files = files;
  }

  /** The texts that an expression can be, each with the file where it stands. */
  texts(file: string, node: Node | null | undefined): readonly HintText[] {
    if (node === null || node === undefined) return [];
    const here = (text: string): readonly HintText[] => [{ file, text }];
    switch (node.type) {
      case 'Literal':
        return typeof node.value === 'string' ? here(node.value) : [];
      case 'TemplateLiteral':
        return here(node.quasis.map(({ value }) => value.cooked ?? value.raw).join(unknown));
      case 'ConditionalExpression':
        return [...this.texts(file, node.consequent), ...this.texts(file, node.alternate)];
      case 'LogicalExpression':
        return [...this.texts(file, node.left), ...this.texts(file, node.right)];
      case 'BinaryExpression': {
        const part = (side: Node): readonly string[] => {
          const texts = this.texts(file, side).map(({ text }) => text);
          return texts.length === 0 ? [unknown] : texts;
        };
        return part(node.left).flatMap((left) => part(node.right).flatMap((right) => here(left + right)));
      }
      case 'AwaitExpression':
        return this.texts(file, node.argument);
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
      case 'TSNonNullExpression':
        return this.texts(file, node.expression);
      case 'Identifier':
        return this.#named(file, node.name);
      case 'CallExpression':
        if (node.callee.type === 'Identifier') return this.#result(file, node.callee.name);
        return [];
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
      case 'FunctionDeclaration':
        return this.#returned(file, node);
      case 'ObjectExpression':
        return node.properties.flatMap((one) => (one.type === 'Property' ? this.texts(file, one.value) : []));
      case 'ArrayExpression':
        return node.elements.flatMap((one) => this.texts(file, one));
      case 'MemberExpression':
        return node.computed && node.object.type === 'Identifier' ? this.#named(file, node.object.name) : [];
      default:
        return [];
    }
  }

  #once(key: string, read: () => readonly HintText[]): readonly HintText[] {
    if (this.#followed.has(key)) return [];
    this.#followed.add(key);
    return read();
  }

  #named(path: string, local: string): readonly HintText[] {
    const [file, name] = declaredAt(this.#files, path, local);
    return this.#once(`${file} ${name}`, () =>
      (this.#files.get(file)?.values.get(name) ?? []).flatMap((value) => this.#part(file, value)),
    );
  }

  #part(file: string, { node, index, key }: Pattern): readonly HintText[] {
    if (index === undefined && key === undefined) return this.texts(file, node);
    if (node.type === 'ConditionalExpression')
      return [node.consequent, node.alternate].flatMap((one) => this.#part(file, { node: one, index, key }));
    if (index !== undefined && node.type === 'ArrayExpression') return this.texts(file, node.elements[index]);
    return [];
  }

  #result(path: string, called: string): readonly HintText[] {
    const [file, name] = declaredAt(this.#files, path, called);
    const node = this.#files.get(file)?.functions.get(name);
    return node === undefined ? [] : this.#once(`${file} ${name}()`, () => this.#returned(file, node));
  }

  #returned(file: string, node: Node): readonly HintText[] {
    if (!('body' in node) || node.body === null || typeof node.body !== 'object' || !('type' in node.body)) return [];
    if (node.body.type !== 'BlockStatement') return this.texts(file, node.body);
    const results: HintText[] = [];
    visit(node.body, (inner) => {
      if (inner.type === 'ReturnStatement') results.push(...this.texts(file, inner.argument));
    });
    return results;
  }
}

/** Calls `see` for the node and all nodes below it, outer nodes first. */
function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, see);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
