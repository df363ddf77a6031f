/** Who a token speaks for. `hook` is the one that providers post feedback with. */
export const KEY_KINDS = ['publishable', 'server', 'hook'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/**
 * The caller of a request: the project of its key, the kind of that key, and its id where a key was sent. A publishable
 * key comes with the address of its client.
 */
export type Caller = {
  projectId: string;
  kind: KeyKind;
  keyId?: string | undefined;
  address?: string | undefined;
};
