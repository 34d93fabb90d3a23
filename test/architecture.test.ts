import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import * as floors from './architecture/floors.ts';
import * as graph from './architecture/graph.ts';
import * as mirror from './architecture/mirror.ts';
import { type Rule, readProject } from './architecture/project.ts';
import * as text from './architecture/text.ts';

const project = readProject(dirname(dirname(fileURLToPath(import.meta.url))));

/** docs/architecture.md says what each rule is for. */
const rules: readonly (readonly [name: string, rule: Rule])[] = [
  ['every room has a floor', floors.everyRoomHasAFloor],
  ['imports go down, never up or sideways', floors.importsGoDown],
  ['the sandbox imports nothing of ours but the engine', floors.sandboxIsClosed],
  ['only its commands and the tests import the sandbox', floors.sandboxHasOneDoor],
  ['the entry imports only what its fast answers need', floors.entryIsSmall],
  ['the program does not import its tests or scripts', floors.sourcesImportNoTests],
  ['no import leads in a circle', graph.noCycles],
  ['every file is reached from an entry', graph.everyFileIsReached],
  ['every command has its line in the tree', graph.everyCommandIsInTheTree],
  ['the tree reads a command only when it was typed', graph.theTreeLoadsOnlyWhatIsTyped],
  ['a start reads no package but the parser', graph.startUpReadsLittle],
  ['every import names a file that is there', text.pathsAreWhole],
  ['no source is longer than 250 lines', text.filesAreShort],
  ['a secret is revealed only where its value leaves the process', text.secretsStayInside()],
  ['nobody ends the process', text.nobodyEndsTheProcess],
  ['no type is cast away', text.typesAreTight],
  ['nothing is left unfinished', text.nothingIsUnfinished],
  ['no file names a machine or a registry', text.noMachineIsNamed],
  ['every export has a name', text.exportsAreNamed],
  ['the only classes are errors, Secret and World', text.classesAreFew],
  ['every source has its test', mirror.everyFileHasItsTest()],
  ['the floor plan in the docs is true', mirror.thePlanIsTrue],
];

test.each(rules)('%s', (_name, rule) => {
  expect(rule(project).join('\n')).toBe('');
});
