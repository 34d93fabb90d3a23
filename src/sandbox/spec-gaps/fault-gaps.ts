import type { SpecGap } from './spec-gap.ts';

/** Choices about injected faults. */
export const FAULT_GAPS: readonly SpecGap[] = [
  {
    id: 'fault-turn',
    section: '7',
    question: 'Several faults that match one request',
    choice:
      'Each fault counts every request that matches it. It is due from its nth match until it has applied `times` times. The first fault in the list that is due applies; a later one waits for the next match. nth and times default to 1. Faults do not apply to the admin API.',
  },
  {
    id: 'fault-commit',
    section: '7',
    question: 'Which faults carry out the request',
    choice:
      'delay, commit_then_drop, half_body, bad_json and slow_drip do. status, drop_before_commit, html_502, redirect_307, reset and rate_limit replace the server, and the state does not change. The request log has fault, committed and delivered for each request, and status 0 if there was no response.',
  },
  {
    id: 'fault-delay',
    section: '7',
    question: 'The clock of a delay, and clients that disconnect during it',
    choice:
      'Real time, not the virtual clock. The request is carried out even if the client disconnects. Closing the sandbox ends a delay; the request is not carried out then.',
  },
  {
    id: 'fault-connection',
    section: '7',
    question: 'Pipelined requests after one whose connection is closed',
    choice: 'They are not carried out: the requests of one connection are carried out one after the other.',
  },
  {
    id: 'fault-shapes',
    section: '7',
    question: 'Format of broken responses',
    choice:
      'half_body sends half of the announced body, or half of the head if there is no body; bad_json sends the first half with a matching length; slow_drip sends head and body byte by byte, 10 ms apart, and closes the connection; redirect_307 redirects to the same path on the other origin; rate_limit is 429 with retry-after 1.',
  },
];
