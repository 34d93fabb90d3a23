import type { SpecGap } from './spec-gap.ts';

/** Of what outlives the server's process. */
export const STATE_GAPS: readonly SpecGap[] = [
  {
    id: 'state-restart',
    section: '3',
    question: 'Whether codes, tokens and approvals outlive a restart of the server',
    choice:
      'With a state folder yes, and time goes on meanwhile; without one nothing does. Faults and rate limits never do.',
  },
  {
    id: 'state-lost-answer',
    section: '3',
    question: 'A refresh whose answer was lost when the server was killed',
    choice:
      'Either it happened whole, and the old pair is dead, or it did not, and the old pair lives. One that was answered has happened.',
  },
  {
    id: 'state-snapshot',
    section: '8',
    question: 'The age of tokens in a snapshot that is restored later',
    choice: 'What it was when the snapshot was taken: the virtual clock goes back to that instant.',
  },
];
