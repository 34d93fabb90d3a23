// The door of the session room. `token.ts` is a second one, for `auth token` without the whole program, and `core.ts` a third: the
// refresh that the library has in common with the program.
export { readAccount, type StoredAccount } from './account.ts';
export type { LoginDialog, LoginRequest, LoginResult } from './authorize.ts';
export { requireOwnSession } from './command.ts';
export { loggedInProfiles, refusedHints, reloginCommand, unreachableHint } from './hints.ts';
export { logIn, storeGivenToken } from './login.ts';
export { showInstructions } from './login-instructions.ts';
export { endSession, eraseSecrets, type LogoutOutcome } from './logout.ts';
export { profilePaths } from './paths.ts';
export { describeLifetime } from './record.ts';
export {
  type LoginReport,
  loginReport,
  readStatus,
  requireStatus,
  type SessionStatus,
  type StatusReport,
} from './report.ts';
export type { CommandOfSessions } from './run.ts';
export { createSessions, type Sessions } from './sessions.ts';
export { hasClientSecret, readClientSecret, requireAvailable, writeClientSecret } from './store.ts';
export { removeForeign } from './stored.ts';
