import { writeSync } from 'node:fs';
import { version } from './version.ts';

/**
 * The entry of the program, a separate CommonJS bundle, so that `--version` and `auth token` take little more time than the
 * start of Node. Lazily imported modules are part of the bundle, but their code runs only when they are imported.
 */
async function start(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) return printLine(version);
  let isBlocked = false;
  if (argv[0] === 'auth' && argv[1] === 'token') {
    const { fastPathToken } = await import('./session/fast-path-token.ts');
    const token = await fastPathToken(argv, process.env, process.platform, Date.now(), () => {
      isBlocked = true;
    });
    if (token !== undefined) return printLine(token.reveal());
  }
  const { runOnThisMachine } = await import('./main.ts');
  process.exitCode = await runOnThisMachine(argv);
  if (isBlocked) (await import('./platform/read-keychain-quickly.ts')).exitWithBlockedThread(process.exitCode);
}

/** Writes to the file descriptor, because creating process.stdout takes more time than the rest of `start`. */
function printLine(line: string): void {
  let text = `${line}\n`;
  try {
    // Versions and tokens are ASCII, so the number of bytes equals the number of characters.
    while (text !== '') text = text.slice(writeSync(1, text));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // When the pipe is full (EAGAIN), process.stdout waits and writes the text; a closed pipe (EPIPE) is not an error.
    if (code === 'EAGAIN') process.stdout.write(text);
    else if (code !== 'EPIPE') {
      process.stderr.write(`error: could not write to standard output: ${code}\n`);
      process.exitCode = 1;
    }
  }
}

void start(process.argv.slice(2));
