/** The program into `dist-test/`, with the hook that interrupts it at a point (src/session/failpoints.ts). */
export function buildForTests(): Promise<object>;
