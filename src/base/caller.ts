/** Who a token speaks for. `hook` is the one that providers post feedback with. */
export const KEY_KINDS = ['publishable', 'server', 'hook'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** Who is calling: the project a key belongs to and what kind of key it is. */
export type Caller = { projectId: string; kind: KeyKind };
