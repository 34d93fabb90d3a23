/** Every error code with its exit code. The set of error codes is fixed, because scripts compare these codes (docs/errors.md). */
export const exitCodes = {
  usage: 2,
  config_invalid: 2,
  profile_unknown: 2,
  not_logged_in: 4,
  needs_login: 4,
  token_refused: 4,
  token_command_failed: 4,
  scope_too_small: 4,
  scope_mismatch: 4,
  access_denied: 4,
  consent_required: 4,
  login_required: 4,
  state_mismatch: 4,
  malformed_response: 4,
  login_timeout: 4,
  invalid_grant: 4,
  invalid_client: 4,
  invalid_scope: 4,
  server_error: 1,
  temporarily_unavailable: 1,
  port_in_use: 1,
  keychain_unavailable: 1,
  busy: 1,
  unreachable: 6,
  tls: 6,
  timeout: 6,
  rate_limited: 1,
  api_error: 1,
  not_found: 1,
  incomplete_list: 1,
  query_failed: 1,
  batch_partial: 5,
  preflight_blocked: 3,
  source_unreachable: 3,
  rehearsal_failed: 1,
  contents_differ: 1,
  contents_not_comparable: 5,
  inventory_incomplete: 5,
  cutover_incomplete: 5,
  not_proven: 5,
  cancelled: 130,
  storage: 7,
  output: 7,
  internal: 1,
} as const;

export type CliErrorCode = keyof typeof exitCodes;
/**
 * Exit codes: 0 success, 1 failure, 2 usage, 3 preflight, 4 authentication, 5 partial success, 6 unreachable, 7 a file or
 * the output cannot be written, 129/130/143 interrupted.
 */
export type ExitCode = 0 | 129 | 143 | (typeof exitCodes)[CliErrorCode];

export interface CliErrorParts {
  /**
   * Details of the error: only facts, and numbers with their units. The text of an error contains no secret and no query of
   * a URL.
   */
  readonly detail?: string | undefined;
  /** The hint is one action in the imperative, with a command that can be pasted. */
  readonly hint?: string | undefined;
  /** HTTP status of the response that caused the error. */
  readonly status?: number | undefined;
  /** `x-request-id` of the response that caused the error. */
  readonly requestId?: string | undefined;
  /** Replaces the exit code that belongs to the error code: 129 after SIGHUP, 143 after SIGTERM, or 5 for a batch that succeeded in part. */
  readonly exitCode?: ExitCode | undefined;
  readonly cause?: unknown;
}

/** An error for the user in three parts, as in PostgreSQL: primary message, detail and hint. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: CliErrorCode;
  readonly detail: string | undefined;
  readonly hint: string | undefined;
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly exitCode: ExitCode;

  constructor(code: CliErrorCode, message: string, parts: CliErrorParts = {}) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.code = code;
    this.detail = parts.detail;
    this.hint = parts.hint;
    this.status = parts.status;
    this.requestId = parts.requestId;
    this.exitCode = parts.exitCode ?? exitCodes[code];
  }
}

/** An error in the command line (exit 2). */
export function usageError(message: string, hint?: string, detail?: string): CliError {
  return new CliError('usage', message, { hint, detail });
}

/** The JSON form of an error; absent parts are omitted. */
export function buildErrorJson(error: CliError): object {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.detail === undefined ? {} : { detail: error.detail }),
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      exit_code: error.exitCode,
      ...(error.status === undefined ? {} : { status: error.status }),
      ...(error.requestId === undefined ? {} : { request_id: error.requestId }),
    },
  };
}

/** The same error with this hint. */
export function withHint(
  { code, message, detail, status, requestId, exitCode, cause }: CliError,
  hint: string | undefined,
): CliError {
  return new CliError(code, message, { detail, hint, status, requestId, exitCode, cause });
}
