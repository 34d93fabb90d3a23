import { createHash, createHmac, pbkdf2Sync } from 'node:crypto';

/**
 * The value that PostgreSQL stores for a password (`pg_authid.rolpassword`). A statement with the SCRAM verifier does
 * not reveal the password in a log, and does not depend on the setting password_encryption of the server.
 * https://www.rfc-editor.org/rfc/rfc5803
 * @param password ASCII only, which needs no SASLprep
 */
export function computeScramVerifier(password: string, salt: Uint8Array): string {
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const key = (name: string) => createHmac('sha256', salted).update(name).digest();
  const storedKey = createHash('sha256').update(key('Client Key')).digest();
  const parts = [storedKey, key('Server Key')].map((bytes) => bytes.toString('base64'));
  return `SCRAM-SHA-256$${iterations}:${Buffer.from(salt).toString('base64')}$${parts.join(':')}`;
}

/**
 * The default number of SCRAM iterations of PostgreSQL; more would not protect the password better, because it is
 * random.
 */
const iterations = 4096;
