import { AUTHORIZATION_CHOICES } from './choices/authorization.ts';
import type { Choice } from './choices/choice.ts';
import { FAULT_CHOICES } from './choices/faults.ts';
import { RESOURCE_CHOICES } from './choices/resources.ts';
import { STATE_CHOICES } from './choices/state.ts';

/** The one place where such choices are written down. `GET /_sandbox/choices` lists them. */
export const CHOICES: readonly Choice[] = [
  ...AUTHORIZATION_CHOICES,
  ...RESOURCE_CHOICES,
  ...FAULT_CHOICES,
  ...STATE_CHOICES,
];
