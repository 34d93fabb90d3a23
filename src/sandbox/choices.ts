import { AUTHORIZATION_CHOICES } from './choices/authorization.ts';
import type { Choice } from './choices/choice.ts';
import { RESOURCE_CHOICES } from './choices/resources.ts';

/** The one place where such choices are written down. `GET /_sandbox/choices` lists them. */
export const CHOICES: readonly Choice[] = [...AUTHORIZATION_CHOICES, ...RESOURCE_CHOICES];
