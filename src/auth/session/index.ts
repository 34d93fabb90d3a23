// The door of the session room. `token.ts` is a second one, for `auth token` without the whole program, and `core.ts` a third: the
// refresh that the library has in common with the program.
export { readAccount, type StoredAccount } from './account.ts';
export { requireOwnSession } from './command.ts';
export { loginInBrowser } from './dialog.ts';
export { loginWithToken } from './given-token.ts';
export { loggedInProfiles, refusedHints, reloginCommand, unreachableHint } from './hints.ts';
export { endSession, eraseSecrets, type LogoutOutcome } from './logout.ts';
export { listenOptions, profileOptions, readProfileOptions, requireConsistent } from './options.ts';
export { profilePaths } from './paths.ts';
export {
  type LoginReport,
  loginFields,
  loginReport,
  loginView,
  readStatus,
  requireStatus,
  type SessionStatus,
  statusFields,
  statusView,
} from './report.ts';
export type { CommandOfSessions } from './run.ts';
export { createSessions, type ProfileCommand, type Sessions } from './sessions.ts';
export { readSecret, setUp } from './setup.ts';
export { hasClientSecret, writeClientSecret } from './store.ts';
export { removeForeign } from './stored.ts';
export { accountFields, printTokenCommand, printVariable } from './token-report.ts';
