import { createHmac, hkdfSync } from 'node:crypto';

/** What a derived key may be used for. One key per purpose, so that none opens another's door. */
export type KeyPurpose =
  | 'api-key-pepper'
  | 'address-hash'
  | 'unsubscribe-link'
  | 'tombstone'
  | 'erase-receipt'
  | 'notice-dedupe'
  | 'message-id'
  | 'credentials'
  | 'session'
  | 'runtime-role-password'
  | 'queue-role-password'
  | 'master-key-check';

const KEY_BYTES = 32;

/** Keys derived from MASTER_KEY with HKDF-SHA256 (RFC 5869), made once and kept in memory. */
export class Keys {
  readonly #master: Buffer;
  readonly #derived = new Map<KeyPurpose, Buffer>();

  constructor(master: Buffer) {
    this.#master = master;
  }

  /** 32 bytes for one purpose. */
  of(purpose: KeyPurpose): Buffer {
    let key = this.#derived.get(purpose);
    if (!key) {
      key = Buffer.from(
        hkdfSync('sha256', this.#master, Buffer.alloc(0), `trunkline/${purpose}`, KEY_BYTES),
      );
      this.#derived.set(purpose, key);
    }
    return key;
  }

  /** HMAC-SHA256 (32 bytes) of a text under the key for one purpose. */
  hash(purpose: KeyPurpose, text: string): Buffer {
    return createHmac('sha256', this.of(purpose)).update(text).digest();
  }
}
