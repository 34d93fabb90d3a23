import { apiSpecGapProbes } from './choices/api-choices.ts';
import { authorizationSpecGapProbes } from './choices/authorization-choices.ts';
import { tokenSpecGapProbes } from './choices/token-choices.ts';
import { apiWriteSpecGapProbes } from './choices/write-choices.ts';
import type { ConformanceStatement, SpecGapProbe } from './statement.ts';
import { apiConformanceStatements } from './statements/api-statements.ts';
import { authorizationRefusalConformanceStatements } from './statements/authorization-refusals.ts';
import { authorizationRedirectConformanceStatements } from './statements/authorization-statements.ts';
import { authorizationCodeConformanceStatements } from './statements/code-statements.ts';
import { dropletConformanceStatements } from './statements/droplet-statements.ts';
import { migrationConformanceStatements } from './statements/migration-statements.ts';
import { consentPromptConformanceStatements } from './statements/prompt-statements.ts';
import { refreshConformanceStatements } from './statements/refresh-statements.ts';
import { revocationConformanceStatements } from './statements/revocation-statements.ts';
import { tokenResponseConformanceStatements } from './statements/token-response-statements.ts';
import { untestableConformanceStatements } from './statements/untestable-statements.ts';

/** Every statement of the specification, in the order of the numbers. */
export const conformanceStatements: readonly ConformanceStatement[] = [
  ...authorizationRefusalConformanceStatements,
  ...authorizationRedirectConformanceStatements,
  ...consentPromptConformanceStatements,
  ...tokenResponseConformanceStatements,
  ...authorizationCodeConformanceStatements,
  ...refreshConformanceStatements,
  ...revocationConformanceStatements,
  ...apiConformanceStatements,
  ...dropletConformanceStatements,
  ...migrationConformanceStatements,
  ...untestableConformanceStatements,
].toSorted((one, other) => one.number.localeCompare(other.number, 'en', { numeric: true }));

/** The functions that observe the open choices of the specification in the responses of a server. */
export const specGapProbes: readonly SpecGapProbe[] = [
  ...authorizationSpecGapProbes,
  ...tokenSpecGapProbes,
  ...apiSpecGapProbes,
  ...apiWriteSpecGapProbes,
];
