import { realpathSync } from 'node:fs';
import { CliError, usageError } from '../../base/errors.ts';
import { isJsonRecord, readStringField, tryParseJson } from '../../base/json.ts';
import { redactSecrets } from '../../base/redact.ts';
import { maxTextLength, sanitizeLine, sanitizeLines } from '../../base/sanitize.ts';
import { Secret } from '../../base/secret.ts';
import { configPath, readConfig } from '../../config/config-file.ts';
import { commandFor, type ProfileReference, type ProfileSettings } from '../../config/settings.ts';
import { type PrintedOutput, runPrinting } from '../../platform/external-program.ts';
import type { HostSystem, ProcessEnvironment } from '../../platform/host.ts';
import { requireUserFile } from '../../platform/own-folder.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { hasTokenSyntax } from '../oauth/index.ts';
import type { TokenProvider } from './provider.ts';

/** Time limit of one run of a token command in milliseconds. */
const runLimitMs = 30_000;
/** For how many milliseconds a token command that still prints a refused token is run again: secret stores copy with a delay. */
const renewalLimitMs = 30_000;
const maxPauseMs = 5_000;
const maxOutputBytes = 64 * 1024;

/** What a token command printed. */
interface PrintedToken {
  readonly accessToken: Secret;
  /** RFC 3339, as printed; absent if the program printed the token alone. Reported only: the API decides what is valid. */
  readonly expiresAt?: string;
}

/** The session of a profile with `token_command`: a program prints its access token, and nothing is stored. */
export interface CommandSession extends TokenProvider {
  /** The token in use. The program runs at the first call, and not again until the API has refused its token. */
  token(): Promise<PrintedToken>;
}

type CommandHost = Pick<HostSystem, 'env' | 'folders' | 'clock' | 'signals'>;

/**
 * Opens the session of a profile with `token_command`; the program does not run yet. Throws a CliError (usage) if the settings of
 * this run name another API than the profile, because the token would be sent to it.
 * @param limit time limit of one run in milliseconds
 */
export function openCommand(host: CommandHost, settings: ProfileSettings, limit: number = runLimitMs): CommandSession {
  const { profile, values } = settings;
  const words = values.token_command ?? [];
  const program = sanitizeLine(words[0] ?? '');
  requireServerOfProfile(settings);
  const refused = new Set<string>();
  let known: PrintedToken | undefined;
  let flight: Promise<PrintedToken> | undefined;
  let givenUp: { readonly at: number; readonly error: CliError } | undefined;

  const run = async (signal: AbortSignal): Promise<PrintedToken> => {
    const given = variablesFor(host, settings);
    requireTrustedCommand(host, settings);
    const printed = await runPrinting(words, { env: host.env, given, signal, limit, maxOutputBytes });
    const decoded = printed.failure === undefined ? decodeOutput(printed.stdout) : printed.failure;
    if (typeof decoded !== 'string') return decoded;
    throw new CliError('token_command_failed', `could not get an access token from ${program}: ${decoded}`, {
      detail: describeStandardError(printed, [...refused]),
      hint: `correct the program, or use a session of your own: ${commandFor(profile, 'config unset token_command')}`,
    });
  };

  const renew = async (signal: AbortSignal): Promise<PrintedToken> => {
    const end = host.clock.now() + renewalLimitMs;
    for (let pause = 500; ; pause = Math.min(pause * 2, maxPauseMs)) {
      const printed = await run(signal);
      if (!refused.has(printed.accessToken.reveal())) return printed;
      if (host.clock.now() + pause > end) throw stillRefusedError(program);
      await host.clock.sleep(pause, signal);
    }
  };

  /** All requests of this process wait for the same run. */
  const share = (work: (signal: AbortSignal) => Promise<PrintedToken>): Promise<PrintedToken> => {
    flight ??= runUntilSignal(host.signals, `interrupted while ${program} was running`, work)
      .then((printed) => {
        known = printed;
        return printed;
      })
      .finally(() => {
        flight = undefined;
      });
    return flight;
  };

  const token = async (): Promise<PrintedToken> => flight ?? known ?? share(run);
  const noSession = async (): Promise<never> => {
    throw noOwnSessionError(profile);
  };
  return {
    token,
    bearer: async () => (await token()).accessToken,
    async renew(old) {
      refused.add(old.reveal());
      const current = await (flight ?? known);
      if (current !== undefined && !refused.has(current.accessToken.reveal())) return current.accessToken;
      // Thousands of requests of a batch may be refused for the same reason.
      if (givenUp !== undefined && host.clock.now() - givenUp.at < renewalLimitMs) throw givenUp.error;
      try {
        return (await share(renew)).accessToken;
      } catch (error) {
        if (error instanceof CliError && error.code === 'token_refused') givenUp = { at: host.clock.now(), error };
        throw error;
      }
    },
    record: noSession,
    forceRefresh: noSession,
  };
}

/** Throws a CliError (usage) for a profile with `token_command`, which a login, logout or refresh cannot change. */
export function requireOwnSession({ profile, values }: ProfileSettings): void {
  if (values.token_command !== undefined) throw noOwnSessionError(profile);
}

function noOwnSessionError(profile: ProfileReference): CliError {
  return usageError(
    `profile "${profile.name}" takes its access token from a program`,
    `use a session of your own: ${commandFor(profile, 'config unset token_command')}`,
    'nothing was sent; the session is where the program reads the token',
  );
}

function requireServerOfProfile({ profile, storedBaseUrl, values }: ProfileSettings): void {
  if (storedBaseUrl !== undefined && values.base_url === storedBaseUrl) return;
  const notRun = 'the program was not run';
  if (storedBaseUrl === undefined)
    throw usageError(
      `profile "${profile.name}" has a token_command and no base_url`,
      `store the origin of the resource API: ${commandFor(profile, 'config set base_url URL')}`,
      `the token is sent only to the base_url of the profile; ${notRun}`,
    );
  throw usageError(
    `cannot use the token of profile "${profile.name}" at ${values.base_url}`,
    'remove `--base-url`, and `unset CLOUDCTL_BASE_URL`',
    `the token is sent only to ${storedBaseUrl}; ${notRun}`,
  );
}

/** A command is run only from a config.json that no other user can have written. */
function requireTrustedCommand(
  { folders }: CommandHost,
  { profileName, values, storedBaseUrl }: ProfileSettings,
): void {
  requireUserFile(configPath(folders.config));
  // The settings may have been read before the file was replaced by one that belongs to the user.
  const stored = readConfig(folders.config).profiles.get(profileName);
  const isSame = JSON.stringify(stored?.token_command) === JSON.stringify(values.token_command);
  if (!isSame || stored?.base_url !== storedBaseUrl)
    throw new CliError('config_invalid', `profile "${profileName}" was changed while this command was running`, {
      detail: 'its token command was not run',
      hint: 'run the command again',
    });
}

/** Names the profiles whose token commands have started this process: a JSON array. Not named CLOUDCTL_*, because those are removed. */
const nestingVariable = '_CLOUDCTL_TOKEN_COMMAND';
const maxNesting = 3;

/** What the program gets beside the environment of every child: the profiles that it must not use again, and no folder of ours. */
function variablesFor({ env, folders }: CommandHost, { profile }: ProfileSettings): ProcessEnvironment {
  const json = tryParseJson(env[nestingVariable] ?? '');
  const outer: readonly unknown[] = json.ok && Array.isArray(json.value) ? json.value : [];
  // One file has many paths.
  const own = `${realPath(configPath(folders.config))} ${profile.name}`;
  if (outer.includes(own) || outer.length >= maxNesting)
    throw new CliError('token_command_failed', `cannot use profile "${profile.name}" in its own token command`, {
      detail: 'the program of the profile has called cloudctl with the same profile',
      hint: 'let the program use another profile: `cloudctl auth token --profile NAME`',
    });
  const nesting = JSON.stringify([...outer, own]);
  return { CLOUDCTL_CONFIG_DIR: undefined, CLOUDCTL_STATE_DIR: undefined, [nestingVariable]: nesting };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The printed token, or why the output is none, as a clause without any of the output. */
function decodeOutput(stdout: string): PrintedToken | string {
  const text = stdout.replace(/\r?\n$/, '');
  if (text === '') return 'it printed nothing';
  if (!/^\s*\{/.test(text)) {
    if (/[\r\n]/.test(text)) return 'it printed more than one line';
    // A JSON string or list, or a web page, is a mistake in the program, and the API would refuse it only after 30 s.
    if (!isToken(text) || /^["[<]/.test(text)) return 'it printed a line that is no access token';
    return { accessToken: new Secret(text) };
  }
  const json = tryParseJson(text);
  if (!json.ok || !isJsonRecord(json.value)) return 'it printed incomplete or wrong JSON';
  const { access_token: _token, expires_at: _end, ...others } = json.value;
  const accessToken = readStringField(json.value, 'access_token');
  const expiresAt = readStringField(json.value, 'expires_at');
  if (Object.keys(others).length > 0) return 'its JSON has other members than access_token and expires_at';
  if (accessToken === undefined || !isToken(accessToken)) return 'its JSON has no access_token';
  if (expiresAt === undefined || !isRfc3339(expiresAt)) return 'its JSON has no expires_at in RFC 3339';
  return { accessToken: new Secret(accessToken), expiresAt };
}

/** A shorter text occurs in messages by chance, so it could not be removed from them. */
function isToken(text: string): boolean {
  return text.length >= 8 && hasTokenSyntax(text);
}

/** https://www.rfc-editor.org/rfc/rfc3339#section-5.6; a leap second is allowed. */
function isRfc3339(text: string): boolean {
  const found = /^(\d{4}-\d\d-\d\d)t([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i.exec(
    text,
  );
  const day = found?.[1];
  const noon = Date.parse(`${day}T12:00:00Z`);
  // Date.parse takes February 30th for March 2nd.
  return day !== undefined && !Number.isNaN(noon) && new Date(noon).toISOString().startsWith(day);
}

function stillRefusedError(program: string): CliError {
  return new CliError('token_refused', 'the resource API refused the access token', {
    detail: `${program} has printed a refused access token for ${renewalLimitMs / 1000} s`,
    hint: `renew the session where ${program} reads the token`,
  });
}

const maxErrorLength = 4000;

/**
 * The end of standard error without secrets: without whatever the program printed on standard output, and without what looks like
 * a secret, because a program that fails may show its requests. The search is made in the text that is shown, after control
 * sequences and invisible characters are gone.
 */
function describeStandardError({ stdout, stderr }: PrintedOutput, refused: readonly string[]): string | undefined {
  const printed = [...wordsOf(sanitizeLines(stdout, maxTextLength)), ...refused];
  const shown = sanitizeLines(stderr, maxTextLength);
  if (containsParts(shown, printed)) return 'its standard error is not shown, because it contains output';
  const clean = redactSecrets(
    shown,
    printed.map((text) => new Secret(text)),
  )
    .replace(/\/\/[^\s/@]*:[^\s/@]*@/g, '//[secret]@')
    .replace(/\b(authorization|cookie)(["']?\s*[:=]\s*)\S.*$/gim, '$1$2[secret]')
    .replace(/\b(bearer|basic)(\s+)\S+/gi, '$1$2[secret]')
    .replace(/((?:^|\s)(?:-u|--user)[\s=])\S+/g, '$1[secret]')
    .replace(/(token|secret|password|passwd|api[-_]?key)(["']?\s*[:=]\s*)\S+/gi, '$1$2[secret]')
    .replace(/(?=[\w+=~-]*\d)(?=[\w+=~-]*[a-z])[\w+=~-]{24,}/gi, '[secret]')
    .trim();
  if (clean === '') return undefined;
  const end = clean.length > maxErrorLength ? `…${clean.slice(-maxErrorLength).replace(/^\S*/, '')}` : clean;
  return `its standard error: ${end}`;
}

/** Lines and words of an output, and the strings of its JSON. */
function wordsOf(output: string): readonly string[] {
  const json = tryParseJson(output);
  const strings =
    json.ok && isJsonRecord(json.value) ? Object.values(json.value).filter((one) => typeof one === 'string') : [];
  return [...new Set([...output.split('\n'), ...output.split(/[\s"'\\,;:&={}[\]()<>]+/), ...strings])];
}

/** Whether the text has the beginning of a printed word, also folded into lines, spaced or shortened. */
function containsParts(text: string, printed: readonly string[]): boolean {
  const whole = printed.reduce((left, word) => (word.length < 8 ? left : left.replaceAll(word, ' ')), text);
  const joined = whole.replace(/\s+/g, '');
  return printed.some((word) => word.length >= 16 && joined.includes(word.replace(/\s+/g, '').slice(0, partLength)));
}

/** So many characters in a row are not the same by chance. */
const partLength = 12;
