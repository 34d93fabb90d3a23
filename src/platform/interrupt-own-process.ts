/** The parts of `process` that a test replaces. */
export interface InterruptibleProcess {
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  kill(pid: number, signal: 'SIGINT'): unknown;
  emit(event: 'SIGINT', signal: 'SIGINT'): boolean;
  exit(status: number): unknown;
}

/**
 * Interrupts this process as Ctrl-C does, for Ctrl-C in raw mode. On Windows `process.kill` would end the process without
 * calling its listeners (https://nodejs.org/api/process.html#signal-events), so they are called directly there.
 */
export function interruptOwnProcess(target: InterruptibleProcess = process): void {
  if (target.platform !== 'win32') target.kill(target.pid, 'SIGINT');
  else if (!target.emit('SIGINT', 'SIGINT')) target.exit(130);
}
