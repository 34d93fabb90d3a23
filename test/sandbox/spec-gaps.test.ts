import { expect, it } from 'vitest';
import { SPEC_GAPS } from '../../src/sandbox/spec-gaps.ts';

it('every choice has a unique id, a section of the specification, a question and a choice', () => {
  expect(new Set(SPEC_GAPS.map(({ id }) => id)).size).toBe(SPEC_GAPS.length);
  for (const { id, section, question, choice } of SPEC_GAPS) {
    expect(id).toMatch(/^[a-z0-9-]+$/);
    expect(section).toMatch(/^[1-9](\.\d)?$/);
    expect(question).toMatch(/\S[^.]$/);
    expect(choice).toMatch(/\.$/);
  }
});
