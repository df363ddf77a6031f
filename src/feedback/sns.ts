import { createVerify, X509Certificate } from 'node:crypto';
import { readObject } from './dialects/reading.ts';

/** A message of the notification service, as far as it is signed. */
export type SnsMessage = {
  Type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation';
  MessageId: string;
  TopicArn: string;
  Message: string;
  Timestamp: string;
  SignatureVersion: string;
  Signature: string;
  SigningCertURL: string;
  Subject?: string;
  Token?: string;
  SubscribeURL?: string;
};

const CONFIRMATION = [
  'Message',
  'MessageId',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
];
/** What is signed, in this order. Maps: types and versions are chosen by whoever posts. */
const SIGNED = new Map<unknown, readonly string[]>([
  ['Notification', ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']],
  ['SubscriptionConfirmation', CONFIRMATION],
  ['UnsubscribeConfirmation', CONFIRMATION],
]);
const ALGORITHMS = new Map<unknown, string>([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
]);
const OPTIONAL = 'Subject';
const ENVELOPE = ['Signature', 'SignatureVersion', 'SigningCertURL'];

/** The message that a body is, or null where a member is missing or is no text. */
export const readSnsMessage = (body: unknown): SnsMessage | null => {
  const fields = readObject(body);
  const signed = SIGNED.get(fields['Type']);
  if (!signed) return null;
  const isText = (name: string): boolean => typeof fields[name] === 'string';
  const isWhole = [...signed, ...ENVELOPE].every(
    (name) => isText(name) || (name === OPTIONAL && fields[name] == null),
  );
  return isWhole ? (fields as SnsMessage) : null;
};

/** The text that is signed. */
export const toCanonical = (message: SnsMessage): string =>
  (SIGNED.get(message.Type) ?? [])
    .map((name) => [name, message[name as keyof SnsMessage]] as const)
    .filter(([, value]) => value != null)
    .map(([name, value]) => `${name}\n${value}\n`)
    .join('');

/** The vendor's partitions, and the domain that each has its services under. */
const DOMAINS = new Map([
  ['aws', 'amazonaws.com'],
  ['aws-us-gov', 'amazonaws.com'],
  ['aws-cn', 'amazonaws.com.cn'],
  ['aws-eusc', 'amazonaws.eu'],
]);
const TOPIC = /^arn:(aws(?:-[a-z]{2,4}){0,2}):sns:([a-z0-9-]{3,30}):(\d{12}):[\w.-]{1,256}$/;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[A-Za-z0-9]{32}\.pem$/;

/** The host that speaks for a topic: the service's, in the topic's region. Null for what is no topic. */
export const hostOfTopic = (topicArn: string): string | null => {
  const [, partition = '', region] = TOPIC.exec(topicArn) ?? [];
  const domain = DOMAINS.get(partition);
  return domain === undefined ? null : `sns.${region}.${domain}`;
};

/** Returns the AWS account and the region of a topic. */
export const partsOfTopic = (topicArn: string): { account: string; region: string } => {
  const [, , region = '', account = ''] = TOPIC.exec(topicArn) ?? [];
  return { account, region };
};

/** Where the certificate of a topic's messages may be; null for any other address. */
export const readCertificateUrl = (text: string, topicArn: string): URL | null => {
  const host = hostOfTopic(topicArn);
  const url = URL.canParse(text) ? new URL(text) : null;
  // Said again from its parts it has no user, port, query or fragment.
  const isPlain = url !== null && text === `https://${host}${url.pathname}`;
  return isPlain && host !== null && CERTIFICATE_PATH.test(url.pathname) ? url : null;
};

const KEY_BITS_MIN = 2_048;

/** Whether a certificate may sign now: of the kind that they use, and in its time. */
const isUsable = (certificate: X509Certificate, now: Date): boolean => {
  const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
  const isLong = (asymmetricKeyDetails?.modulusLength ?? 0) >= KEY_BITS_MIN;
  const isInTime = certificate.validFromDate <= now && now <= certificate.validToDate;
  return asymmetricKeyType === 'rsa' && isLong && isInTime && !certificate.ca;
};

const toCertificate = (pem: string): X509Certificate | null => {
  try {
    return new X509Certificate(pem);
  } catch {
    return null;
  }
};

/** Whether a message is signed by the owner of a certificate, and when it is not, nothing of why. */
export const isSignedBy = (message: SnsMessage, pem: string, now: Date): boolean => {
  const algorithm = ALGORITHMS.get(message.SignatureVersion);
  const certificate = toCertificate(pem);
  if (!algorithm || !certificate || !isUsable(certificate, now)) return false;
  const verifier = createVerify(algorithm).update(toCanonical(message), 'utf8');
  return verifier.verify(certificate.publicKey, message.Signature, 'base64');
};
