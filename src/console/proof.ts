import { PROOF_HEADER } from '../admin/cookie_names.ts';

// The second half of the session. Storage belongs to one scheme, host and port, which cookies do not: a server at
// another port of this host receives the cookie, and cannot use it.

const NAME = 'trunkline.session_proof';

/** Keeps the proof of a new session for all pages of this origin, or removes the one of a session that has ended. */
export const keepProof = (proof: string | null): void => {
  if (proof === null) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, proof);
};

/** Returns the header that each call sends beside the cookie. */
export const proofHeaders = (): Record<string, string> => {
  const proof = localStorage.getItem(NAME);
  return proof === null ? {} : { [PROOF_HEADER]: proof };
};
