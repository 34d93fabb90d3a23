import { AUTHORIZATION_GAPS } from './spec-gaps/authorization-gaps.ts';
import { FAULT_GAPS } from './spec-gaps/fault-gaps.ts';
import { RESOURCE_GAPS } from './spec-gaps/resource-gaps.ts';
import type { SpecGap } from './spec-gaps/spec-gap.ts';
import { STATE_GAPS } from './spec-gaps/state-gaps.ts';

/** All choices of the sandbox where the specification does not define a behaviour. `GET /_sandbox/choices` lists them. */
export const SPEC_GAPS: readonly SpecGap[] = [...AUTHORIZATION_GAPS, ...RESOURCE_GAPS, ...FAULT_GAPS, ...STATE_GAPS];
