import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { postgresqlChecks } from '../src/db/preflight/postgresql/checks.ts';
import { redisChecks } from '../src/db/preflight/redis/checks.ts';
import { SANDBOX_ROUTES } from '../src/sandbox/routes.ts';
import * as citations from './architecture/citations.ts';
import * as graph from './architecture/graph.ts';
import * as layers from './architecture/layers.ts';
import { type Rule, readProject } from './architecture/project.ts';
import * as tests from './architecture/tests.ts';
import * as text from './architecture/text.ts';
import { goldenSectionsHaveTests, wordingIsInGoldenFiles } from './architecture/wording.ts';

const project = readProject(dirname(dirname(fileURLToPath(import.meta.url))));
const checkIds = {
  postgresql: postgresqlChecks.map(({ id }) => id),
  redis: redisChecks.map(({ id }) => id),
};

/** By subject. docs/architecture.md and the comment of each rule give the reason. */
const rules: Readonly<Record<string, readonly (readonly [name: string, rule: Rule])[]>> = {
  layers: [
    ['every room of src has a layer', layers.everyRoomHasALayer],
    ['docs/architecture.md lists every room with its layer', tests.architecturePageIsCurrent(layers.layerNumber)],
    ['every import names an existing file', text.pathsAreWhole],
    ['imports lead to lower layers', layers.importsLeadDown],
    ['the sandbox imports nothing of the program but the engine', layers.sandboxImportsOnlyTheEngine],
    ['the sandbox is imported by its commands and tests alone', layers.sandboxIsImportedByItsCommands],
    ['the conformance run has a client of its own', layers.conformanceHasItsOwnClient],
    ['the program does not import its tests or scripts', layers.sourcesImportNoTests],
    ['the entry imports only what its quick replies need', layers.entryImportsLittle],
    ['a start loads no package but the parser', graph.startLoadsFewPackages],
    ['process.exit is not called', text.processExitIsNotCalled],
    ['a time limit is a timeoutSignal', text.timeLimitsOutliveGarbageCollection],
  ],
  cycles: [['there is no cycle of imports', graph.noCycles]],
  doors: [
    ['a room with a door is entered by it', layers.roomsAreEnteredByTheirDoors],
    ['a door only passes names on', layers.doorsOnlyPassOn],
    ['an exported name is declared in one file of its room', layers.namesAreUniqueInTheirRoom],
  ],
  registries: [
    ['every file is reachable from an entry', graph.everyFileIsReachable],
    ['a command is loaded when it is typed', graph.commandsAreLoadedLazily],
    ['every command has its test', tests.everyCommandHasItsTest],
    ['every check has its file and its test', tests.everyCheckHasItsTest(checkIds)],
    ['every endpoint has its test', tests.everyEndpointHasItsTest([...SANDBOX_ROUTES.auth, ...SANDBOX_ROUTES.api])],
  ],
  secrets: [
    ['a secret is revealed only where its value leaves the process', text.secretsStayInside()],
    ['children are started in one place, which leaves the secrets out', text.childrenAreStartedInOnePlace],
    ['no file names a machine or a registry', text.noMachineIsNamed],
  ],
  statements: [['every statement to PostgreSQL is sent by one function', text.postgresqlStatementsHaveOnePlace]],
  wording: [
    ['wording is asserted in golden files only', wordingIsInGoldenFiles],
    ['every golden section belongs to a test file', goldenSectionsHaveTests],
    ['a message of the API names no option', text.apiMessagesNameNoOption],
  ],
  citations: [
    ['what a comment or a page cites exists', citations.citationsResolve],
    ['a rule of the service that is named exists', citations.rulesOfTheServiceExist],
    ['each rule of the login helper has its test', citations.rulesOfTheHelperAreTested],
  ],
};

describe.each(Object.entries(rules))('%s', (_subject, ofSubject) => {
  test.each(ofSubject)('%s', (_name, rule) => {
    expect(rule(project).join('\n')).toBe('');
  });
});
