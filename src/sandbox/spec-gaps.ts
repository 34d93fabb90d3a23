import { SPEC_GAPS_OF_AUTHORIZATION } from './spec-gaps/authorization-gaps.ts';
import { SPEC_GAPS_OF_FAULTS, SPEC_GAPS_OF_RESTARTS } from './spec-gaps/fault-gaps.ts';
import { SPEC_GAPS_OF_MIGRATIONS } from './spec-gaps/migration-gaps.ts';
import { SPEC_GAPS_OF_RESOURCES } from './spec-gaps/resource-gaps.ts';

import type { SpecGap } from './spec-gaps/spec-gap.ts';
import { SPEC_GAPS_OF_TOKENS } from './spec-gaps/token-gaps.ts';

/**
 * Every choice that the sandbox makes where docs/service.md leaves a behaviour open. The endpoint `GET /_sandbox/choices`
 * lists the choices of the sandbox, docs/open-choices.md is generated from them, and test/conformance expects them.
 */
export const SPEC_GAPS: readonly SpecGap[] = [
  ...SPEC_GAPS_OF_AUTHORIZATION,
  ...SPEC_GAPS_OF_TOKENS,
  ...SPEC_GAPS_OF_RESOURCES,
  ...SPEC_GAPS_OF_MIGRATIONS,
  ...SPEC_GAPS_OF_FAULTS,
  ...SPEC_GAPS_OF_RESTARTS,
];
