import { createHmac, hkdfSync } from 'node:crypto';
import type { OuterKey } from '../config/master_key.ts';

/** What a derived key may be used for. One key per purpose, so that none opens another's door. */
export type KeyPurpose =
  | 'api-key-pepper'
  | 'address-hash'
  | 'unsubscribe-link'
  | 'unsubscribe-token'
  | 'unsubscribe-token-iv'
  | 'bounce-token'
  | 'bounce-token-iv'
  | 'feedback-id'
  | 'test-email'
  | 'tombstone'
  | 'browser'
  | 'erase-receipt'
  | 'notice-dedupe'
  | 'message-key'
  | 'session'
  | 'invitation'
  | 'device'
  | 'token-tag'
  | 'session-proof'
  | 'preview-ticket'
  | 'api-key-tag'
  | 'rate-limit'
  | 'runtime-role-password'
  | 'queue-role-password'
  | 'master-key-check';

const KEY_BYTES = 32;

const derive = (secret: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), `trunkline/${purpose}`, KEY_BYTES));

/** Keys derived from MASTER_KEY with HKDF-SHA256 (RFC 5869), made once and kept in memory. */
export class Keys {
  readonly #root: Buffer;
  readonly #outer: ReadonlyMap<number, Buffer>;
  readonly #derived = new Map<KeyPurpose, Buffer>();
  readonly #outerVersion: number;

  /** Of the outer keys the first is today's; the others only open what they wrapped. */
  constructor(root: Buffer, outer: readonly OuterKey[] = [{ version: 1, key: root }]) {
    this.#root = root;
    this.#outerVersion = outer[0]?.version ?? 1;
    this.#outer = new Map(outer.map(({ version, key }) => [version, derive(key, 'credentials')]));
  }

  /** 32 bytes for one purpose. */
  of(purpose: KeyPurpose): Buffer {
    let key = this.#derived.get(purpose);
    if (!key) {
      key = derive(this.#root, purpose);
      this.#derived.set(purpose, key);
    }
    return key;
  }

  /** Of the outer key that new data keys are wrapped with. */
  get outerVersion(): number {
    return this.#outerVersion;
  }

  /** What wraps data keys of credentials, by its version. */
  outer(version: number): Buffer {
    const key = this.#outer.get(version);
    if (!key)
      throw new Error(`there is no outer key of version ${version}: see MASTER_KEY_PREVIOUS`);
    return key;
  }

  /** HMAC-SHA256 (32 bytes) of a text under the key for one purpose. */
  hash(purpose: KeyPurpose, text: string): Buffer {
    return createHmac('sha256', this.of(purpose)).update(text).digest();
  }
}
