// A notification service that other people run: it signs, holds its certificate out, and confirms subscriptions.
import { randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generate } from 'selfsigned';
import { afterAll, beforeAll } from 'vitest';
import { toCanonical } from '../../src/feedback/sns.ts';
import type { SnsMessage } from '../../src/feedback/sns.ts';

export const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:ses-feedback';
export const OTHER_TOPIC = 'arn:aws:sns:eu-west-1:999999999999:somebody-elses';
/** Where the service holds out the certificate of a topic: in the topic's region. */
const certificateUrlOf = (topicArn: string): string =>
  `https://sns.${topicArn.split(':')[3]}.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem`;
export const CERTIFICATE_URL = certificateUrlOf(TOPIC);

const DAY_MS = 86_400_000;
const daysFromNow = (days: number): Date => new Date(Date.now() + days * DAY_MS);

export type Signer = { pem: string; key: string };

export type Making = {
  from?: Date;
  to?: Date;
  keyType?: 'rsa' | 'ec';
  keySize?: number;
  isCa?: boolean;
};

/** A certificate of the kind that the service signs with, and its key. */
export const makeSigner = async (making: Making = {}): Promise<Signer> => {
  const { cert, private: key } = await generate(
    [{ name: 'commonName', value: 'sns.amazonaws.com' }],
    {
      keyType: making.keyType ?? 'rsa',
      keySize: making.keySize ?? 2_048,
      algorithm: 'sha256',
      notBeforeDate: making.from ?? daysFromNow(-1),
      notAfterDate: making.to ?? daysFromNow(1),
      extensions: [{ name: 'basicConstraints', cA: making.isCa ?? false, critical: true }],
    },
  );
  return { pem: cert, key };
};

const DIGESTS: Record<string, string> = { 1: 'sha1', 2: 'sha256' };

/** Signs what a message says, as it is. */
export const signMessage = (
  message: Omit<SnsMessage, 'Signature'>,
  { key }: Signer,
): SnsMessage => {
  const text = Buffer.from(toCanonical({ ...message, Signature: '' }));
  const signature = sign(DIGESTS[message.SignatureVersion] ?? 'sha256', text, key);
  return { ...message, Signature: signature.toString('base64') };
};

const envelope = (TopicArn = TOPIC) => ({
  MessageId: randomUUID(),
  TopicArn,
  Timestamp: new Date().toISOString(),
  SignatureVersion: '1',
  SigningCertURL: certificateUrlOf(TopicArn),
});

type Given = Partial<Omit<SnsMessage, 'Signature'>>;

export const notificationOf = (
  message: unknown,
  given: Given = {},
): Omit<SnsMessage, 'Signature'> => ({
  ...envelope(given.TopicArn),
  Type: 'Notification',
  Message: typeof message === 'string' ? message : JSON.stringify(message),
  ...given,
});

export const confirmationOf = (given: Given = {}): Omit<SnsMessage, 'Signature'> => {
  const { TopicArn } = { ...envelope(), ...given };
  return {
    ...envelope(TopicArn),
    Type: 'SubscriptionConfirmation',
    Message: `You have chosen to subscribe to the topic ${TopicArn}.\nTo confirm, visit the SubscribeURL.`,
    Token: '2336412f37fb687f5d51e6e2425e',
    // Somebody's trap: nobody may ask there.
    SubscribeURL: 'http://169.254.169.254/latest/meta-data',
    ...given,
  };
};

/** What the service may do instead of what it should. */
export type Mood = 'well' | 'down' | 'refusing' | 'redirecting' | 'endless' | 'silent' | 'confused';

export type SnsService = {
  url: string;
  signer: Signer;
  mood: Mood;
  asked: { host: string; path: string }[];
};

const confirmed = (
  topicArn: string,
): string => `<ConfirmSubscriptionResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/">
  <ConfirmSubscriptionResult>
    <SubscriptionArn>${topicArn}:2bcf7c52-5a1c-4d0e-9a43-43f7a1c2d3e4</SubscriptionArn>
  </ConfirmSubscriptionResult></ConfirmSubscriptionResponse>`;

const MOODS: Record<Exclude<Mood, 'well'>, (response: ServerResponse) => void> = {
  down: (response) => response.writeHead(503).end(),
  refusing: (response) => response.writeHead(403).end('<ErrorResponse/>'),
  redirecting: (response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  endless: (response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(16_384)));
    };
    response.on('drain', more);
    more();
  },
  silent: () => {},
  confused: (response) =>
    response.writeHead(200).end('<SubscriptionArn>arn:aws:sns:other</SubscriptionArn>'),
};

/** The service at an address of its own, for the length of a test file. */
export const snsService = (): SnsService => {
  const service = { mood: 'well', asked: [] } as unknown as SnsService;
  let server: Server;
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '', 'http://sns');
    service.asked.push({ host: request.headers.host ?? '', path: request.url ?? '' });
    if (service.mood !== 'well') return MOODS[service.mood](response);
    if (url.pathname.endsWith('.pem')) response.end(service.signer.pem);
    else response.end(confirmed(url.searchParams.get('TopicArn') ?? ''));
  };
  beforeAll(async () => {
    service.signer = await makeSigner();
    server = createServer(answer);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return service;
};
