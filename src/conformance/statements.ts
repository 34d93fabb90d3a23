import { apiChoices } from './choices/api-choices.ts';
import { authorizationChoices } from './choices/authorization-choices.ts';
import { tokenChoices } from './choices/token-choices.ts';
import { writeChoices } from './choices/write-choices.ts';
import type { ConformanceStatement, OpenChoiceProbe } from './statement.ts';
import { apiStatements } from './statements/api-statements.ts';
import { authorizationRefusals } from './statements/authorization-refusals.ts';
import { authorizationStatements } from './statements/authorization-statements.ts';
import { codeStatements } from './statements/code-statements.ts';
import { dropletStatements } from './statements/droplet-statements.ts';
import { grantStatements } from './statements/grant-statements.ts';
import { migrationStatements } from './statements/migration-statements.ts';
import { promptStatements } from './statements/prompt-statements.ts';
import { refreshStatements } from './statements/refresh-statements.ts';
import { revocationStatements } from './statements/revocation-statements.ts';
import { untestableStatements } from './statements/untestable-statements.ts';

/** Every statement of the specification, in the order of the numbers. */
export const conformanceStatements: readonly ConformanceStatement[] = [
  ...authorizationRefusals,
  ...authorizationStatements,
  ...promptStatements,
  ...grantStatements,
  ...codeStatements,
  ...refreshStatements,
  ...revocationStatements,
  ...apiStatements,
  ...dropletStatements,
  ...migrationStatements,
  ...untestableStatements,
].toSorted((one, other) => one.number.localeCompare(other.number, 'en', { numeric: true }));

/** The probes of the open choices that a server shows in its responses. */
export const openChoiceProbes: readonly OpenChoiceProbe[] = [
  ...authorizationChoices,
  ...tokenChoices,
  ...apiChoices,
  ...writeChoices,
];
