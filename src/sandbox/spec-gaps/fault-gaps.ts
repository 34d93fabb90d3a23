import type { SpecGap } from './spec-gap.ts';

/** Choices about injected faults. */
export const SPEC_GAPS_OF_FAULTS: readonly SpecGap[] = [
  {
    id: 'fault-turn',
    section: '7',
    question: 'Several faults that match one request',
    choice:
      'Each fault counts every request that matches it. It is due from its nth match until it has applied `times` times. The first fault in the list that is due applies; a later one waits for the next match. normalize_attributes and lag_lists apply in addition, one fault of each. nth and times default to 1. Faults do not apply to the admin API.',
  },
  {
    id: 'fault-commit',
    section: '7',
    question: 'Which faults carry out the request',
    choice:
      'delay, commit_then_drop, half_body, bad_json, slow_drip, commit_late, normalize_attributes and lag_lists do. status, drop_before_commit, html_502, redirect_307, reset and rate_limit replace the server, and the state does not change. The request log has fault, committed and delivered for each request with a fault. Its status is that of the response that was made, also of one that was not delivered, and 0 for drop_before_commit and reset.',
  },
  {
    id: 'fault-delay',
    section: '7',
    question: 'The clock of a delay, and clients that disconnect during it',
    choice:
      'Real time, not the virtual clock. The request is carried out even if the client disconnects. Closing the sandbox ends a delay; the request is not carried out then. Only lag_lists uses the virtual clock, because created_at does.',
  },
  {
    id: 'fault-commit-late',
    section: '7',
    question: 'A request that is carried out after its client is gone',
    choice:
      'commit_late closes the connection without a byte when the request has arrived, checks its token then, and carries it out after the delay. The request log has it from then on.',
  },
  {
    id: 'fault-normalize',
    section: '7',
    question: 'Attributes that a server stores with other values than it received',
    choice:
      'normalize_attributes: for a region the newest of its place (nyc1: nyc3), for a size the first of the same memory and CPUs (1gb: s-1vcpu-1gb), for an image the newest of its distribution (ubuntu-22-04-x64: ubuntu-24-04-x64). The response shows what is stored.',
  },
  {
    id: 'fault-lag',
    section: '7',
    question: 'Lists that are behind',
    choice:
      'lag_lists: GET /v2/droplets, with or without a filter, leaves out droplets younger than the delay, also in meta.total. GET /v2/droplets/{id} and actions are not behind.',
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
