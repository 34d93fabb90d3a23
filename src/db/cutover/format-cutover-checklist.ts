import { sanitizeReportLine } from '../../base/sanitize.ts';
import type { CutoverChecklistLine } from './cutover-checklist.ts';

/** The checklist for a person: two lines for each step, because a table with the observed facts is wider than a terminal. */
export function formatCutoverChecklist(
  lines: readonly (Omit<CutoverChecklistLine, 'id'> & { readonly id: string })[],
): string {
  return lines
    .map(
      ({ state, title, observed }) =>
        `${state.replace('_', ' ').padEnd(stateWidth)}${title}\n${' '.repeat(stateWidth)}${sanitizeReportLine(observed)}`,
    )
    .join('\n');
}

/** The width of the column with the states: the length of the longest state and two spaces. */
const stateWidth = 13;
