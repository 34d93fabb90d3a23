import { AUTHORIZATION_GAPS } from './spec-gaps/authorization-gaps.ts';
import { FAULT_GAPS, RESTART_GAPS } from './spec-gaps/fault-gaps.ts';
import { MIGRATION_GAPS } from './spec-gaps/migration-gaps.ts';
import { RESOURCE_GAPS } from './spec-gaps/resource-gaps.ts';

import type { SpecGap } from './spec-gaps/spec-gap.ts';
import { TOKEN_GAPS } from './spec-gaps/token-gaps.ts';

/**
 * Every choice that the sandbox makes where docs/service.md leaves a behaviour open. The endpoint `GET /_sandbox/choices`
 * lists the choices of the sandbox, docs/open-choices.md is generated from them, and test/conformance expects them.
 */
export const SPEC_GAPS: readonly SpecGap[] = [
  ...AUTHORIZATION_GAPS,
  ...TOKEN_GAPS,
  ...RESOURCE_GAPS,
  ...MIGRATION_GAPS,
  ...FAULT_GAPS,
  ...RESTART_GAPS,
];
