import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { postgresqlChecks } from '../src/db/preflight/postgresql/checks.ts';
import { redisChecks } from '../src/db/preflight/redis/checks.ts';
import { SANDBOX_ROUTES } from '../src/sandbox/routes.ts';
import * as citations from './architecture/citations.ts';
import * as graph from './architecture/graph.ts';
import * as layers from './architecture/layers.ts';
import * as names from './architecture/names.ts';
import { type Rule, readProject } from './architecture/project.ts';
import * as tests from './architecture/tests.ts';
import * as text from './architecture/text.ts';
import { goldenSectionsHaveTests, wordingIsInGoldenFiles } from './architecture/wording.ts';

const project = readProject(dirname(dirname(fileURLToPath(import.meta.url))));
const checkIds = {
  postgresql: postgresqlChecks.map(({ id }) => id),
  redis: redisChecks.map(({ id }) => id),
};

/** docs/architecture.md gives the reason for each rule. */
const rules: readonly (readonly [name: string, rule: Rule])[] = [
  ['every room of src has a layer', layers.everyRoomHasALayer],
  ['imports lead to lower layers', layers.importsLeadDown],
  ['a room with a door is entered by it', layers.roomsAreEnteredByTheirDoors],
  ['a door only passes names on', layers.doorsOnlyPassOn],
  ['the sandbox imports nothing of the program but the engine', layers.sandboxImportsOnlyTheEngine],
  ['the sandbox is imported by its commands and tests alone', layers.sandboxIsImportedByItsCommands],
  ['the conformance run has a client of its own', layers.conformanceHasItsOwnClient],
  ['the entry imports only what its quick replies need', layers.entryImportsLittle],
  ['the program does not import its tests or scripts', layers.sourcesImportNoTests],
  ['there is no cycle of imports', graph.noCycles],
  ['every file is reachable from an entry', graph.everyFileIsReachable],
  ['every command has its line in the tree', graph.everyCommandIsInTheTree],
  ['a command is loaded when it is typed', graph.commandsAreLoadedLazily],
  ['a start loads no package but the parser', graph.startLoadsFewPackages],
  ['every import names an existing file', text.pathsAreWhole],
  ['a secret is revealed only where its value leaves the process', text.secretsStayInside()],
  ['process.exit is not called', text.processExitIsNotCalled],
  ['a time limit is a timeoutSignal', text.timeLimitsOutliveGarbageCollection],
  ['every statement to PostgreSQL is sent by one function', text.postgresqlStatementsHaveOnePlace],
  ['children are started in one place, which leaves the secrets out', text.childrenAreStartedInOnePlace],
  ['no type is cast to any', text.typesAreTight],
  ['no file has a marker of unfinished work', text.nothingIsUnfinished],
  ['no file names a machine or a registry', text.noMachineIsNamed],
  ['every export has a name', text.exportsAreNamed],
  ['no class but an error extends another', text.onlyErrorsInherit],
  ['an exported name is declared in one file of its room', names.namesAreUniqueInTheirRoom],
  ['wording is asserted in golden files only', wordingIsInGoldenFiles],
  ['every golden section belongs to a test file', goldenSectionsHaveTests],
  ['what a comment cites exists', citations.citationsResolve],
  ['a rule of the service that is named exists', citations.rulesOfTheServiceExist],
  ['each rule of the login helper has its test', citations.rulesOfTheHelperAreTested],
  ['every command has its test', tests.everyCommandHasItsTest],
  ['every check has its file and its test', tests.everyCheckHasItsTest(checkIds)],
  ['every endpoint has its test', tests.everyEndpointHasItsTest([...SANDBOX_ROUTES.auth, ...SANDBOX_ROUTES.api])],
  ['docs/architecture.md lists every room with its layer', tests.architecturePageIsCurrent(layers.layerNumber)],
];

test.each(rules)('%s', (_name, rule) => {
  expect(rule(project).join('\n')).toBe('');
});
