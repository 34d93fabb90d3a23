import { type Node, parseSync } from 'oxc-parser';

/** What the rules about names and wording read in one TypeScript file. */
export interface FileSyntax {
  /** Names of exported declarations, types included; re-exports are not among them. */
  readonly declaredExports: readonly string[];
  /** Text of all string and template literals but import paths; `…` stands for each substitution. */
  readonly literals: readonly string[];
  /** Literals in the arguments of `expect(…).matcher(…)`, with their line. */
  readonly assertedLiterals: readonly AssertedLiteral[];
}

export interface AssertedLiteral {
  readonly line: number;
  readonly text: string;
}

const cache = new Map<string, FileSyntax>();

export function syntaxOf(path: string, source: string): FileSyntax {
  const known = cache.get(source);
  if (known !== undefined) return known;
  const { program } = parseSync(path, source);
  const literals: string[] = [];
  const assertedLiterals: AssertedLiteral[] = [];
  visit(program, (node) => {
    const text = literalText(node);
    if (text !== undefined) literals.push(text);
    if (isAssertion(node)) {
      const line = source.slice(0, node.start).split('\n').length;
      for (const argument of node.arguments) {
        visit(argument, (inner) => {
          const asserted = literalText(inner);
          if (asserted !== undefined) assertedLiterals.push({ line, text: asserted });
        });
      }
    }
  });
  const syntax = { declaredExports: declaredExports(program.body), literals, assertedLiterals };
  cache.set(source, syntax);
  return syntax;
}

/** Calls `see` for the node and all nodes below it, outer nodes first. */
function visit(node: Node, see: (node: Node) => void): void {
  if (/^(Import|ExportAll)/.test(node.type)) return;
  see(node);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child, see);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function literalText(node: Node): string | undefined {
  if (node.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked ?? value.raw).join('…');
  if (node.type !== 'Literal') return undefined;
  if ('regex' in node) return node.regex.pattern;
  return typeof node.value === 'string' ? node.value : undefined;
}

function isAssertion(node: Node): node is Extract<Node, { readonly type: 'CallExpression' }> {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return false;
  let object: Node = node.callee;
  while (object.type === 'MemberExpression') object = object.object;
  return (
    object.type === 'CallExpression' &&
    object.callee.type === 'Identifier' &&
    /^(expect|local)$/.test(object.callee.name)
  );
}

function declaredExports(body: readonly Node[]): readonly string[] {
  return body.flatMap((node) => {
    if (node.type !== 'ExportNamedDeclaration' || node.declaration === null) return [];
    const { declaration } = node;
    if (declaration.type === 'VariableDeclaration') {
      return declaration.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []));
    }
    return 'id' in declaration && declaration.id?.type === 'Identifier' ? [declaration.id.name] : [];
  });
}

/** First lines of the statements of a door that are not `export { … } from '…'`. */
export function statementsThatPassNothingOn(path: string, source: string): readonly string[] {
  return parseSync(path, source)
    .program.body.filter(
      ({ type, ...node }) => type !== 'ExportNamedDeclaration' || !('source' in node) || node.source === null,
    )
    .map(({ start }) => source.slice(start).split('\n', 1)[0] ?? '');
}
