// Turns a module that esbuild wrote as an ES module into a function of a pack.
import { parse } from 'es-module-lexer';
import { transform } from 'esbuild';
import { parseSync } from 'oxc-parser';

/**
 * The function of one module. V8 compiles a function in parentheses with its file; any other function it parses then, and
 * again when it is called.
 */
export async function moduleFunction({ name, text }, modules, isNeededAtOnce, options) {
  const { target, minifySyntax, minifyWhitespace } = options;
  const imported = withLateBuiltins(withConstantImports(text, modules));
  const { code } = await transform(withoutExports(withRequireForImport(imported)), {
    ...{ format: 'cjs', platform: 'node', target, minifySyntax, minifyWhitespace },
    define: { 'import.meta.url': 'thisBundle.url', 'import.meta.packs': 'thisBundle.packs' },
  });
  const body = code.replace(/^"use strict";/, '').trim();
  return isNeededAtOnce ? `${name}:(function(require,module){${body}\n})` : `${name}(require,module){${body}\n}`;
}

/** `export{a as b}` at the end becomes `module.exports={b:a}`; a name that is assigned to later becomes a getter. */
function withoutExports(text) {
  const [, exported] = parse(text);
  if (exported.length === 0) return text;
  const clause = /export\{([^}]*)\};?\s*$/.exec(text);
  if (clause === null) {
    const only = /export default ([\w$]+(?:\(\))?);?\s*$/.exec(text);
    if (only === null || exported.length !== 1) throw new Error(`unexpected export: ${text.slice(-200)}`);
    return `${text.slice(0, only.index)}module.exports={default:${only[1]}};`;
  }
  const assigned = assignedNames(text);
  const properties = namesIn(clause[1]).map(([local, name]) => {
    return assigned.has(local) ? `get ${name}(){return ${local}}` : `${name}:${local}`;
  });
  return `${text.slice(0, clause.index)}module.exports={${properties.join(',')}};`;
}

/** Names on the left of an assignment anywhere in the text, whatever they refer to. */
function assignedNames(text) {
  const { program, errors } = parseSync('module.js', text);
  if (errors.length > 0) throw new Error(errors[0].message);
  const names = new Set();
  const addTargets = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (node.type === 'Identifier') names.add(node.name);
    else if (node.type !== 'MemberExpression') for (const child of Object.values(node)) addTargets(child);
  };
  const visit = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (node.type === 'AssignmentExpression') addTargets(node.left);
    if (node.type === 'UpdateExpression') addTargets(node.argument);
    if (/^For(In|Of)Statement$/.test(node.type) && node.left.type !== 'VariableDeclaration') addTargets(node.left);
    for (const child of Object.values(node)) visit(child);
  };
  visit(program);
  return names;
}

/** The pairs of `a as b, c`: the name before `as` and the one after it. */
function namesIn(clause) {
  return clause.split(',').map((part) => {
    const [before, after = before] = part.trim().split(' as ');
    return [before, after];
  });
}

/**
 * A named import becomes constants, which take less room than properties of the other module's exports at each use. What that
 * module assigns to later stays an import.
 */
function withConstantImports(text, modules) {
  const [imports] = parse(text);
  return imports.toReversed().reduce((changed, { specifier, type, importStart, importEnd }) => {
    const from = modules.get(specifier?.replace('./', ''));
    const clause = /^import\s*\{([^}]*)\}/.exec(text.slice(importStart, importEnd))?.[1];
    if (type !== 'static' || clause === undefined || (from === undefined && !eagerBuiltins.includes(specifier)))
      return changed;
    const variable = from === undefined ? new Set() : variableExports(from.text);
    const names = namesIn(clause);
    const constants = names.filter(([name]) => !variable.has(name)).map(([name, local]) => `${name}:${local}`);
    const others = names.filter(([name]) => variable.has(name)).map(([name, local]) => `${name} as ${local}`);
    const statements = [
      ...(constants.length === 0 ? [] : [`const{${constants.join(',')}}=require("${specifier}")`]),
      ...(others.length === 0 ? [] : [`import{${others.join(',')}}from"${specifier}"`]),
    ];
    return changed.slice(0, importStart) + statements.join(';') + changed.slice(importEnd);
  }, text);
}

function variableExports(text) {
  const clause = /export\{([^}]*)\};?\s*$/.exec(text)?.[1];
  const assigned = assignedNames(text);
  const names = clause === undefined ? [] : namesIn(clause);
  return new Set(names.filter(([local]) => assigned.has(local)).map(([, name]) => name));
}

/** Almost every start uses these. */
const eagerBuiltins = ['node:fs', 'node:path'];

/** Named imports of Node's other modules: the module is loaded when a name is used. */
function withLateBuiltins(text) {
  const [imports] = parse(text);
  return imports.toReversed().reduce((changed, { specifier, start, end, type, importStart }) => {
    const isNamed = /^import\s*\{/.test(text.slice(importStart, end));
    if (type !== 'static' || !isNamed || !specifier.startsWith('node:') || eagerBuiltins.includes(specifier))
      return changed;
    return `${changed.slice(0, start)}late:${specifier}${changed.slice(end)}`;
  }, text);
}

/** A lazy import of a module in a pack, of a native package or of Node is a call of require. */
function withRequireForImport(text) {
  const [imports] = parse(text);
  return imports.toReversed().reduce((changed, { specifier, type, importStart: from, importEnd: to }) => {
    if (type !== 'dynamic') return changed;
    if (specifier === undefined) throw new Error(`a lazy import of an unknown name: ${text.slice(from, to)}`);
    const load = `Promise.resolve().then(()=>require(${JSON.stringify(specifier)}))`;
    return changed.slice(0, from) + load + changed.slice(to);
  }, text);
}
