import { inProject } from '../base/db.ts';
import { parseJson } from '../base/json.ts';
import { Refusal } from '../base/refusal.ts';
import { isEventBridge } from './dialects/amazon_ses/events.ts';
import type { SignatureCheck, SignedPost } from './dialects/dialect.ts';
import { dialectOf } from './dialects/dialects.ts';
import { isFresh } from './dialects/freshness.ts';
import { rememberPost } from './posts.ts';
import { receiveSns } from './receive_sns.ts';
import { findSigningKey } from './signing_keys.ts';
import type { Vault } from './signing_keys.ts';
import { take } from './take.ts';
import type { Post, Received } from './take.ts';

/** By token: its sender can mend what cannot be read, so the answer says what is wrong. */
const receiveByToken = async (post: Post): Promise<Received> => {
  const result = await dialectOf(post.source).read(post.posted);
  if (result.notices.length === 0 && result.errors.length > 0) {
    const issues = result.errors.map(({ path, message }) => ({ path, message }));
    throw new Refusal('invalid_request', { issues });
  }
  return take(post, result, () => Promise.resolve(true));
};

const MINUTES_PER_HOUR = 60;

const inWords = (minutes: number): string =>
  minutes < MINUTES_PER_HOUR ? `${minutes} minutes` : `${minutes / MINUTES_PER_HOUR} hours`;

/** Only a sender with the key learns this: one of the two clocks is wrong, and everything it signs is refused. */
const staleOf = ({ minutesMax }: SignatureCheck): string =>
  `The signature is right, but its time is not: by our clock it is more than ${inWords(minutesMax)} old, ` +
  'or ahead. Check both clocks, then send the webhook again.';

/** Returns what a post lacks that was refused because no key is set. */
const noKeyOf = ({ keyName, isRequired }: SignatureCheck, name: string): string =>
  isRequired
    ? `No ${keyName} is set, and only signed posts of ${name} count: a webhook token does not replace it. Set the ` +
      'key in Settings, Webhooks.'
    : `The post has no webhook token, and no ${keyName.toLowerCase()} of ${name} is set. Add the token to the URL ` +
      'at the vendor (?token=svc_hook_live_…), or set the key in Settings, Webhooks.';

/** Returns what an unsigned post lacks once the key is set. */
const unsignedOf = ({ keyName }: SignatureCheck, name: string): string =>
  `The post has no signature of ${name}. Since the ${keyName} is set, only signed posts count: switch signing on at ` +
  'the vendor.';

/** Returns the id of a post whose signature is right and fresh; refuses any other. */
const verify = (post: Post, check: SignatureCheck, signed: SignedPost, key: string): string => {
  const { deps, projectId, source } = post;
  const proof = check.verify(signed, key);
  if (proof === null) throw new Refusal('invalid_signature');
  if (!isFresh(proof.signedAt, signed.receivedAt, check.minutesMax)) {
    deps.log.warn({ project_id: projectId, source }, 'the signature of a webhook is too old');
    throw new Refusal('invalid_signature', { detail: staleOf(check) });
  }
  return proof.postId;
};

/**
 * By signature. A vendor that signs on request posts with the webhook token until the project sets a key; from then
 * on only the signature counts. Trunkline remembers each signed post with its body, so a replay has no effect.
 */
const receiveSigned = async (
  post: Post,
  vault: Vault,
  check: SignatureCheck,
): Promise<Received> => {
  const { deps, projectId, source, posted, headers, isTokened } = post;
  const signed = { ...posted, headers };
  const mayUseToken = isTokened && !check.isRequired;
  const { name } = dialectOf(source);
  const key = await inProject(deps, projectId, (scope) => findSigningKey(scope, vault, source));
  if (key === null && mayUseToken) return receiveByToken(post);
  if (key === null) throw new Refusal('invalid_signature', { detail: noKeyOf(check, name) });
  if (!check.hasSignature(signed))
    throw new Refusal('invalid_signature', { detail: unsignedOf(check, name) });

  const id = verify(post, check, signed, key);
  return take(post, await dialectOf(source).read(posted), async (scope) => {
    const seen = await rememberPost(scope, { source, id, said: posted.raw });
    if (seen === 'other') throw new Refusal('webhook_replayed');
    return seen === 'new';
  });
};

const UNSIGNED =
  'An event of Amazon EventBridge bears no signature. Let its API destination send the webhook token of ' +
  'this project in X-Webhook-Token.';

/** Only the token proves an event of EventBridge. */
const receiveUnsigned = (post: Post): Promise<Received> => {
  if (!post.isTokened) throw new Refusal('invalid_token', { detail: UNSIGNED });
  return receiveByToken(post);
};

/** Verifies a post in the way of its dialect, then stores what it reports. */
export const receive = async (post: Post, vault: Vault): Promise<Received> => {
  const { verification } = dialectOf(post.source);
  switch (verification.kind) {
    case 'token':
      return receiveByToken(post);
    case 'signature':
      return receiveSigned(post, vault, verification);
    case 'topic': {
      const body = parseJson(post.posted.raw);
      return isEventBridge(body) ? receiveUnsigned(post) : receiveSns(post, body);
    }
  }
};
