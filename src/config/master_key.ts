/** What wraps the data keys of credentials: the part of MASTER_KEY that can be rotated, known by its version. */
export type OuterKey = { version: number; key: Buffer };

/**
 * The two parts of MASTER_KEY. Everything but credentials follows from the root: hashes of keys and addresses,
 * sessions, the roles' passwords. It never changes. Until the first rotation both are the same 32 bytes.
 */
export type MasterKey = { root: Buffer; outer: OuterKey };

/** 64 hexadecimal digits; after a rotation `<version>:<outer key>:<root>`. */
export const MASTER_KEY_FORM = /^(?:([1-9]\d{0,3}):([0-9a-f]{64}):)?([0-9a-f]{64})$/;

const FIRST_VERSION = 1;

/** Reads a text that has the form. */
export const readMasterKey = (text: string): MasterKey => {
  const [, version, outer, root] = MASTER_KEY_FORM.exec(text) ?? [];
  if (root === undefined) throw new Error('MASTER_KEY does not have its form');
  return {
    root: Buffer.from(root, 'hex'),
    outer: {
      version: version === undefined ? FIRST_VERSION : Number(version),
      key: Buffer.from(outer ?? root, 'hex'),
    },
  };
};
