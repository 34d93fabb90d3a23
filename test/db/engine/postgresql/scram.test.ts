import { expect, test } from 'vitest';
import { scramVerifier } from '../../../../src/db/engine/postgresql/target.ts';

test('the verifier is that of RFC 7677', () => {
  // The example of the RFC: user `user`, password `pencil`; its server signature follows from this server key.
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
});
