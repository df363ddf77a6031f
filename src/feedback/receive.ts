import { inProject } from '../base/db.ts';
import { parseJson } from '../base/json.ts';
import { Refusal } from '../base/refusal.ts';
import { adapters } from './adapters.ts';
import { checkSignature, SIGNATURE_HOURS_MAX } from './mailgun.ts';
import { rememberPost } from './posts.ts';
import { readObject } from './reading.ts';
import { receiveSns } from './receive_sns.ts';
import { findSigningKey } from './signing_keys.ts';
import type { Vault } from './signing_keys.ts';
import { take } from './take.ts';
import type { Post, Received } from './take.ts';

/** By token: whoever posts can mend what cannot be read, and is told. */
const receiveByToken = async (post: Post): Promise<Received> => {
  const result = await adapters[post.source].read(post.posted);
  if (result.notices.length === 0) {
    const issues = result.errors.map(({ path, message }) => ({ path, message }));
    throw new Refusal('invalid_request', { issues });
  }
  return take(post, result, () => Promise.resolve(true));
};

/** Whoever has the key is told what is the matter: of their clock, or of ours, everything they sign is refused. */
const STALE =
  `The signature is right, but not its time: by our clock it is more than ${SIGNATURE_HOURS_MAX} hours old, ` +
  'or ahead. Check both clocks; sent again once they agree, this webhook is taken.';

/** Signed with a key: the signature covers a token of the post's and not what it says, so both are remembered. */
const receiveSigned = async (post: Post, vault: Vault): Promise<Received> => {
  const { deps, projectId, source, posted } = post;
  const body = parseJson(posted.raw);
  if (Object.keys(readObject(readObject(body)['signature'])).length === 0)
    throw new Refusal('invalid_signature');
  const key = await inProject(deps, projectId, (scope) => findSigningKey(scope, vault, source));
  const signed = key === null ? null : checkSignature(body, key, posted.receivedAt);
  if (signed?.kind === 'stale') {
    deps.log.warn({ project_id: projectId }, 'a webhook is not signed in the time of our clock');
    throw new Refusal('invalid_signature', { detail: STALE });
  }
  if (signed?.kind !== 'proven') throw new Refusal('invalid_signature');

  return take(post, await adapters[source].read(posted), async (scope) => {
    const seen = await rememberPost(scope, { source, id: signed.token, said: posted.raw });
    if (seen === 'other') throw new Refusal('webhook_replayed');
    return seen === 'new';
  });
};

/** Verifies a post in the way of its dialect, then takes in what it says. */
export const receive = (post: Post, vault: Vault): Promise<Received> => {
  switch (adapters[post.source].proof) {
    case 'token':
      return receiveByToken(post);
    case 'signing_key':
      return receiveSigned(post, vault);
    case 'topic':
      return receiveSns(post);
  }
};
