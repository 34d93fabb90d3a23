import { expect, it } from 'vitest';
import { CHOICES } from '../../src/sandbox/choices.ts';

it('every choice has an id of its own, a section of the specification, a question and an answer', () => {
  expect(new Set(CHOICES.map(({ id }) => id)).size).toBe(CHOICES.length);
  for (const { id, section, question, choice } of CHOICES) {
    expect(id).toMatch(/^[a-z0-9-]+$/);
    expect(section).toMatch(/^[1-9](\.\d)?$/);
    expect(question).toMatch(/\S[^.]$/);
    expect(choice).toMatch(/\.$/);
  }
});
