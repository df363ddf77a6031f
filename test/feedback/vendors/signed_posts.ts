// What SendGrid and Svix sign, made by their rules and not by ours.
import { createHmac, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Call } from '../../support/api.ts';

const seconds = (at: Date): string => String(Math.floor(at.getTime() / 1_000));

/** A key pair as SendGrid makes one for each webhook. */
export const sendgridKeys = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const sign = (raw: string, at = new Date()): Call => {
    const timestamp = seconds(at);
    const signature = createSign('sha256')
      .update(timestamp + raw)
      .sign(privateKey, 'base64');
    return {
      headers: {
        'x-twilio-email-event-webhook-signature': signature,
        'x-twilio-email-event-webhook-timestamp': timestamp,
      },
    };
  };
  return { key, sign };
};

/**
 * A secret as Svix makes one for each endpoint, and its signature under either name of the headers.
 */
export const svixSecret = (bytes = Buffer.alloc(24, 7)) => {
  const key = `whsec_${bytes.toString('base64')}`;
  const signatureOf = (id: string, at: Date, raw: string): string =>
    `v1,${createHmac('sha256', bytes)
      .update(`${id}.${seconds(at)}.${raw}`)
      .digest('base64')}`;
  const sign = (
    raw: string,
    { at = new Date(), id = `msg_${randomUUID()}`, prefix = 'svix', others = '' } = {},
  ): Call => ({
    headers: {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: seconds(at),
      [`${prefix}-signature`]: `${others}${signatureOf(id, at, raw)}`,
    },
  });
  return { key, sign };
};
