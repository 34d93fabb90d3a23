import type { SpecGap } from './spec-gap.ts';

/** The sandbox's choices about state across restarts. */
export const SPEC_GAPS_OF_RESTARTS: readonly SpecGap[] = [
  {
    id: 'state-restart',
    rule: 'S1.6',
    question: 'Whether codes, tokens and approvals survive a restart of the sandbox',
    choice:
      'With a state folder, codes, tokens and approvals survive a restart, and the virtual clock continues while the sandbox is stopped. Without a state folder they are lost. Faults and the counters of rate limits never survive a restart.',
    unobserved: 'a test needs a restart or a snapshot of the sandbox',
  },
  {
    id: 'state-lost-answer',
    rule: 'S1.6',
    question: 'A token refresh whose response was lost when the sandbox was killed',
    choice:
      'Either the refresh is complete and the old token pair is invalid, or the refresh did not happen and the old pair is valid. A refresh whose response was sent is complete.',
    unobserved: 'a test needs a restart or a snapshot of the sandbox',
  },
  {
    id: 'state-snapshot',
    rule: 'S1.6',
    question: 'Age of tokens after a later restore of a snapshot',
    choice:
      'Tokens have the age that they had when the snapshot was taken, because the virtual clock is set back to that time.',
    unobserved: 'a test needs a restart or a snapshot of the sandbox',
  },
];
