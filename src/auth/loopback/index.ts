// The temporary HTTP server that receives the redirect of a login. Other rooms import this file only.

export type { CallbackParameters, ResponseValidator } from './decide.ts';
export { type ListenAddress, parseCallback } from './listen.ts';
export type { LoginOutcome, TabAnswer } from './pages.ts';
export { readPaste } from './pasted.ts';
export { type OnRefusedPeer, type PeerNetwork, parseNetwork } from './peers.ts';
export { type LoopbackServer, startLoopback } from './server.ts';
