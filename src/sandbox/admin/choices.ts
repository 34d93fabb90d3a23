import { CHOICES } from '../choices.ts';
import { json, type Reply } from '../http/reply.ts';

export function showChoices(): Reply {
  return json(200, { choices: CHOICES });
}
