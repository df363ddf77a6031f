import { Agent } from 'node:https';
import SnsPayloadValidator from 'sns-payload-validator';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  hostOfTopic,
  isSignedBy,
  readCertificateUrl,
  readSnsMessage,
} from '../../src/feedback/sns.ts';
import type { SnsMessage } from '../../src/feedback/sns.ts';
import { checkSnsSignature } from '../../src/feedback/sns_network.ts';
import {
  CERTIFICATE_URL,
  confirmationOf,
  makeSigner,
  notificationOf,
  signMessage,
  TOPIC,
} from './sns_service.ts';
import type { Signer } from './sns_service.ts';

let signer: Signer;
let other: Signer;
beforeAll(async () => {
  signer = await makeSigner();
  other = await makeSigner();
});

/** A check that others wrote, which is given the certificate and reaches nobody. */
const oracle = async (message: unknown): Promise<boolean> => {
  const requestAgent = new Agent({
    lookup: (_host, _options, answer) => answer(new Error('nobody is asked'), '', 4),
  });
  const validator = new SnsPayloadValidator({ requestAgent });
  const { certCache } = validator as unknown as {
    certCache: { set: (url: string, pem: string) => void };
  };
  certCache.set(CERTIFICATE_URL, signer.pem);
  return validator.validate(structuredClone(message) as never).then(
    () => true,
    () => false,
  );
};

/** Ours: a whole message, of whose certificate's address we think well, signed by the certificate there. */
const ours = async (body: unknown): Promise<boolean> => {
  const message = readSnsMessage(body);
  const network = {
    certificate: (url: URL) =>
      Promise.resolve(
        url.href === CERTIFICATE_URL
          ? ({ kind: 'text', text: signer.pem } as const)
          : ({ kind: 'refused' } as const),
      ),
  };
  return message !== null && (await checkSnsSignature(network, message, new Date())) === 'proven';
};

const kinds: [string, () => Omit<SnsMessage, 'Signature'>][] = [
  ['a notification', () => notificationOf('{"eventType":"Send"}')],
  [
    'a notification with a subject',
    () => notificationOf('x', { Subject: 'Amazon SES Email Event' }),
  ],
  [
    'a notification of other scripts and lines',
    () => notificationOf('Grüße\n„日本“ 😀\r\n', { Subject: 'é' }),
  ],
  ['a confirmation', () => confirmationOf()],
  ['the end of a subscription', () => confirmationOf({ Type: 'UnsubscribeConfirmation' })],
];

describe.each(kinds)('%s', (_kind, make) => {
  test.each(['1', '2'])('of version %s is proven, as others find it', async (SignatureVersion) => {
    const message = signMessage({ ...make(), SignatureVersion }, signer);
    expect([await ours(message), await oracle(message)]).toEqual([true, true]);
  });

  test('is not proven once anything signed is changed, as others find it', async () => {
    const message = signMessage(make(), signer);
    const changes = Object.keys(message)
      .filter((name) => !['SigningCertURL', 'SignatureVersion'].includes(name))
      .map((name) => ({ ...message, [name]: `${message[name as keyof SnsMessage]}x` }));
    for (const changed of changes.filter(({ Signature }) => Signature === message.Signature))
      expect([await ours(changed), await oracle(changed)]).toEqual([false, false]);
  });

  test('is not proven by another key, version or no signature, as others find it', async () => {
    const message = signMessage(make(), signer);
    const wrong = [
      signMessage(make(), other),
      { ...message, SignatureVersion: '2' },
      { ...message, SignatureVersion: '3' },
      { ...message, SignatureVersion: 'constructor' },
      { ...message, Signature: '' },
      { ...message, Signature: 'no base64 ~' },
      { ...message, Type: 'constructor' },
      { ...message, Type: '__proto__' },
    ];
    for (const one of wrong) expect([await ours(one), await oracle(one)]).toEqual([false, false]);
  });
});

describe('the address of a certificate', () => {
  const HOSTILE = [
    CERTIFICATE_URL.replace('https', 'http'),
    CERTIFICATE_URL.replace('amazonaws.com', 'amazonaws.com.evil.test'),
    CERTIFICATE_URL.replace('https://', 'https://evil.test@'),
    CERTIFICATE_URL.replace('https://', 'https://evil.test/'),
    CERTIFICATE_URL.replace('amazonaws.com/', 'amazonaws.com:8443/'),
    CERTIFICATE_URL.replace('sns.eu-west-1', 's3.eu-west-1'),
    CERTIFICATE_URL.replace('sns.eu-west-1', 'sns.eu_west'),
    CERTIFICATE_URL.replace('Simple', 'bucket/Simple'),
    CERTIFICATE_URL.replace('.pem', '.pem?x=1'),
    CERTIFICATE_URL.replace('.pem', '.pem#x'),
    CERTIFICATE_URL.replace('0123', '01'),
    `${CERTIFICATE_URL}\n`,
    CERTIFICATE_URL.replace('SimpleNotificationService', '%53impleNotificationService'),
    '',
    'x',
  ];
  test.each(HOSTILE)('is not %s, as others find it', async (SigningCertURL) => {
    expect(readCertificateUrl(SigningCertURL, TOPIC)).toBeNull();
    const message = signMessage(notificationOf('x', { SigningCertURL }), signer);
    expect([await ours(message), await oracle(message)]).toEqual([false, false]);
  });

  test('is of the region and the partition of the topic', () => {
    const url = (host: string) => CERTIFICATE_URL.replace('sns.eu-west-1.amazonaws.com', host);
    const topic = (partition: string, region: string) =>
      `arn:${partition}:sns:${region}:123456789012:t`;
    const cases: [string, string, string][] = [
      ['aws', 'us-east-1', 'sns.us-east-1.amazonaws.com'],
      ['aws', 'ap-southeast-7', 'sns.ap-southeast-7.amazonaws.com'],
      ['aws', 'mx-central-1', 'sns.mx-central-1.amazonaws.com'],
      ['aws-us-gov', 'us-gov-west-1', 'sns.us-gov-west-1.amazonaws.com'],
      ['aws-cn', 'cn-north-1', 'sns.cn-north-1.amazonaws.com.cn'],
      ['aws-eusc', 'eusc-de-east-1', 'sns.eusc-de-east-1.amazonaws.eu'],
    ];
    for (const [partition, region, host] of cases) {
      expect(hostOfTopic(topic(partition, region))).toBe(host);
      expect(readCertificateUrl(url(host), topic(partition, region))?.host).toBe(host);
    }
    expect(readCertificateUrl(url('sns.us-east-1.amazonaws.com'), TOPIC)).toBeNull();
    expect(readCertificateUrl(url('sns.eu-west-1.amazonaws.com.cn'), TOPIC)).toBeNull();
  });

  test.each([
    'arn:aws:sqs:eu-west-1:123456789012:q',
    'arn:aws-iso:sns:us-iso-east-1:123456789012:t',
    'arn:aws:sns:eu-west-1.evil.test:123456789012:t',
    'arn:aws:sns:eu-west-1:1234:t',
    // Names of other regions than the partition has, and of other services: `s3-us-west-2` is a bucket of anyone's.
    'arn:aws:sns:s3-us-west-2:123456789012:t',
    'arn:aws:sns:s3:123456789012:t',
    'arn:aws:sns:fips-us-east-1:123456789012:t',
    'arn:aws:sns:us-east:123456789012:t',
    'arn:aws:sns:us-gov-west-1:123456789012:t',
    'arn:aws:sns:cn-north-1:123456789012:t',
    'arn:aws-cn:sns:us-east-1:123456789012:t',
    'arn:aws-us-gov:sns:us-east-1:123456789012:t',
    'arn:aws-eusc:sns:eu-west-1:123456789012:t',
    'arn:aws:sns:eu-west-1:123456789012:t t',
    `${TOPIC}\n`,
    '',
  ])('nobody speaks for %j', (topicArn) => {
    expect(hostOfTopic(topicArn)).toBeNull();
  });
});

describe('a certificate', () => {
  const DAY_MS = 86_400_000;
  const proves = async (making: Parameters<typeof makeSigner>[0]) => {
    const made = await makeSigner(making);
    const text = signMessage(notificationOf('x', { SignatureVersion: '2' }), made);
    return isSignedBy(text, made.pem, new Date());
  };

  test('signs in its time, with a long key of the kind they use, and for nobody else', async () => {
    expect(await proves({})).toBe(true);
    expect(
      await proves({ from: new Date(Date.now() - 2 * DAY_MS), to: new Date(Date.now() - DAY_MS) }),
    ).toBe(false);
    expect(
      await proves({ from: new Date(Date.now() + DAY_MS), to: new Date(Date.now() + 2 * DAY_MS) }),
    ).toBe(false);
    expect(await proves({ keySize: 1_024 })).toBe(false);
    expect(await proves({ keyType: 'ec' })).toBe(false);
    expect(await proves({ isCa: true })).toBe(false);
  });

  test('that is none proves nothing', () => {
    const message = signMessage(notificationOf('x'), signer);
    for (const pem of ['', 'x', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])
      expect(isSignedBy(message, pem, new Date())).toBe(false);
  });
});

test('a message with a member missing, or of another type, is none; only the subject may be', () => {
  const whole = signMessage(confirmationOf(), signer);
  for (const name of Object.keys(whole))
    for (const value of [undefined, null, 1, ['x'], {}])
      expect([name, readSnsMessage({ ...whole, [name]: value })]).toEqual([name, null]);
  const notification = signMessage(notificationOf('x'), signer);
  expect(readSnsMessage({ ...notification, Subject: null })).not.toBeNull();
  expect(readSnsMessage({ ...notification, Subject: 1 })).toBeNull();
  for (const body of [
    null,
    'x',
    1,
    [],
    [whole],
    JSON.parse(`{"__proto__":${JSON.stringify(whole)}}`),
  ])
    expect(readSnsMessage(body)).toBeNull();
});
