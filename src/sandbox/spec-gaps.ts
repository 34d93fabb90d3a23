import { SPEC_GAPS_OF_AUTHORIZATION } from './spec-gaps/authorization-gaps.ts';
import { SPEC_GAPS_OF_FAULTS } from './spec-gaps/fault-gaps.ts';
import { SPEC_GAPS_OF_RESOURCES } from './spec-gaps/resource-gaps.ts';
import type { SpecGap } from './spec-gaps/spec-gap.ts';
import { SPEC_GAPS_OF_STATE } from './spec-gaps/state-gaps.ts';

/** All choices of the sandbox where the specification does not define a behaviour. `GET /_sandbox/choices` lists them. */
export const SPEC_GAPS: readonly SpecGap[] = [
  ...SPEC_GAPS_OF_AUTHORIZATION,
  ...SPEC_GAPS_OF_RESOURCES,
  ...SPEC_GAPS_OF_FAULTS,
  ...SPEC_GAPS_OF_STATE,
];
