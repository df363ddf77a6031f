import type { Keys } from '../../base/keys.ts';
import { BOUNCE_TOKEN_CHARS, makeBounceToken, readBounceToken } from './bounce_token.ts';
import type { TokenOwner } from './bounce_token.ts';

/** Where the bounces of a provider go; null for its sender's own address. */
export type BounceAddress = { address: string; verp: boolean } | null;

const TOKEN = new RegExp(`\\+([a-z2-7]{${BOUNCE_TOKEN_CHARS}})@`, 'gi');
/** How many addresses of one text are tried. */
const TOKENS_MAX = 20;

/** The provider of an email, its sender, and where its bounces go. */
export type Enveloped = TokenOwner & { fromEmail: string; bounces: BounceAddress };

/** Returns the envelope sender of a send: variable (VERP) where the provider has it so. */
export const makeEnvelopeSender = (
  keys: Keys,
  { fromEmail, bounces, ...owner }: Enveloped,
  sendId: string,
): string => {
  if (bounces === null) return fromEmail;
  const { address, verp } = bounces;
  if (!verp) return address;
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}+${makeBounceToken(keys, owner, sendId)}${address.slice(at)}`;
};

/** Returns the send id of the first address in a text that has a token of this provider; null without one. */
export const readEnvelopeSender = (keys: Keys, owner: TokenOwner, text: string): string | null => {
  let tries = 0;
  for (const [, token = ''] of text.matchAll(TOKEN)) {
    const sendId = readBounceToken(keys, owner, token);
    if (sendId !== null) return sendId;
    tries += 1;
    if (tries >= TOKENS_MAX) return null;
  }
  return null;
};
