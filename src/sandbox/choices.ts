import { AUTHORIZATION_CHOICES } from './choices/authorization.ts';
import type { Choice } from './choices/choice.ts';
import { FAULT_CHOICES, RESTART_CHOICES } from './choices/faults.ts';
import { MIGRATION_CHOICES } from './choices/migrations.ts';
import { RESOURCE_CHOICES } from './choices/resources.ts';
import { TOKEN_CHOICES } from './choices/tokens.ts';

/**
 * Every choice that the sandbox makes where docs/service.md leaves a behaviour open. The endpoint `GET /_sandbox/choices`
 * lists the choices of the sandbox, docs/open-choices.md is generated from them, and test/conformance expects them.
 */
export const CHOICES: readonly Choice[] = [
  ...AUTHORIZATION_CHOICES,
  ...TOKEN_CHOICES,
  ...RESOURCE_CHOICES,
  ...MIGRATION_CHOICES,
  ...FAULT_CHOICES,
  ...RESTART_CHOICES,
];
