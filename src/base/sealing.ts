import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts with AES-256-GCM under a fresh 96-bit nonce (NIST SP 800-38D).
 * Answers nonce, tag and ciphertext in one buffer. `context` says where the secret belongs
 * (project, record, field, format version); moved anywhere else it does not open.
 */
export const seal = (key: Buffer, context: string, plain: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
};

/** Opens what `seal` made. Throws when the key, the context or a single bit differs. */
export const unseal = (key: Buffer, context: string, sealed: Buffer): Buffer => {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(context))
    .setAuthTag(tag);
  return Buffer.concat([
    decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)),
    decipher.final(),
  ]);
};
