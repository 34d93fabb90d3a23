/** A port that no program listens on, for a server that may restart. */
export function freePort(): Promise<number>;
/** A port that no program listens on, and that no other test gets. */
export function closedPort(): Promise<number>;
