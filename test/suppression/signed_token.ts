import { createHmac } from 'node:crypto';
import type { Keys } from '../../src/base/keys.ts';
import type { UnsubscribeLink } from '../../src/suppression/suppression.ts';

const bytesOf = (id: string): Buffer => Buffer.from(id.replaceAll('-', ''), 'hex');

/** The token of a link as emails carried it before tokens were encrypted: the link itself, readable, and a MAC. */
export const signedToken = (keys: Keys, { projectId, addressKey, sendId }: UnsubscribeLink) => {
  const said = Buffer.concat([Buffer.from([1]), bytesOf(projectId), addressKey, bytesOf(sendId)]);
  const mac = createHmac('sha256', keys.of('unsubscribe-link')).update(said).digest();
  return Buffer.concat([said, mac]).toString('base64url');
};
