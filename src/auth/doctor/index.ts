// The door of the room that finds what would prevent a login on this machine.
export { diagnose } from './diagnose.ts';
export { doctorReport, type Finding, summarize } from './finding.ts';
