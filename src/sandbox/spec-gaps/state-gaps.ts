import type { SpecGap } from './spec-gap.ts';

/** Choices about state across restarts. */
export const SPEC_GAPS_OF_STATE: readonly SpecGap[] = [
  {
    id: 'state-restart',
    section: '3',
    question: 'Whether codes, tokens and approvals survive a restart of the server',
    choice:
      'With a state folder yes, and the virtual clock continues during the stop; without one no. Faults and rate limits never survive.',
  },
  {
    id: 'state-lost-answer',
    section: '3',
    question: 'A refresh whose response was lost when the server was killed',
    choice:
      'Either it is complete, and the old pair is invalid, or it did not happen, and the old pair is valid. An answered refresh is complete.',
  },
  {
    id: 'state-snapshot',
    section: '8',
    question: 'The age of tokens in a snapshot that is restored later',
    choice: 'The age when the snapshot was taken: the virtual clock is set back to that instant.',
  },
];
