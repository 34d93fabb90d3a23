import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from './run-vitest.mjs';

const isUpdating = (process.env.UPDATE_GOLDEN ?? '') !== '';

/**
 * After the tests: a section of a golden file that no test of its test file has read fails the run; with UPDATE_GOLDEN=1 it
 * is removed. A test file counts when all its tests passed: one that was left out may be the one that reads the section.
 */
export function setup(project) {
  return () => {
    const modules = project.vitest.state.getTestModules().filter((module) => module.project === project);
    const readByFile = new Map(
      modules.filter(isComplete).map((module) => [relative(root, module.moduleId), read(module)]),
    );
    const isUnread = (section) => readByFile.get(section.split(' > ', 1)[0])?.has(section) === false;
    const unread = goldenFiles().flatMap((path) => checkFile(path, isUnread));
    if (unread.length === 0 || isUpdating) return;
    console.error(`\ngolden sections that no test reads:\n${unread.map((line) => `  ${line}\n`).join('')}`);
    console.error('UPDATE_GOLDEN=1 npx vitest run FILE removes them');
    process.exitCode = 1;
  };
}

function isComplete(module) {
  return (
    module.state() === 'passed' && [...module.children.allTests()].every((test) => test.result().state === 'passed')
  );
}

function read(module) {
  return new Set([...module.children.allTests()].flatMap((test) => test.meta().golden ?? []));
}

function goldenFiles() {
  const names = readdirSync(join(root, 'test/golden'), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.txt')).map((name) => join('test/golden', name));
}

function checkFile(path, isUnread) {
  const sections = readFileSync(join(root, path), 'utf8').split(/^(?=# test\/)/m);
  const nameOf = (section) => section.slice(2, section.indexOf('\n'));
  const unread = sections.map(nameOf).filter(isUnread);
  if (isUpdating && unread.length > 0) {
    const left = sections.filter((section) => !isUnread(nameOf(section))).join('');
    writeFileSync(join(root, path), `${left.trimEnd()}\n`);
  }
  return unread.map((name) => `${path}: ${name}`);
}
