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

/**
 * The vendor's partitions: the domain that each has its services under, and how its regions are named (AWS General
 * Reference, "Service endpoints"). Other names may be hosts of other services: `sns.s3-us-west-2.amazonaws.com` is a
 * bucket that anyone may create.
 */
const PARTITIONS = new Map([
  ['aws', { domain: 'amazonaws.com', region: /^(?!cn-)[a-z]{2}-[a-z]{4,10}-\d{1,2}$/ }],
  ['aws-us-gov', { domain: 'amazonaws.com', region: /^us-gov-[a-z]{4,10}-\d{1,2}$/ }],
  ['aws-cn', { domain: 'amazonaws.com.cn', region: /^cn-[a-z]{4,10}-\d{1,2}$/ }],
  ['aws-eusc', { domain: 'amazonaws.eu', region: /^eusc-[a-z]{2}-[a-z]{4,10}-\d{1,2}$/ }],
]);
const TOPIC = /^arn:(aws(?:-[a-z]{2,4}){0,2}):sns:([a-z0-9-]{3,30}):(\d{12}):[\w.-]{1,256}$/;
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[A-Za-z0-9]{32}\.pem$/;

/**
 * Returns the host that speaks for a topic: the notification service in the region of the topic. Null for what is no
 * topic, and for a region that its partition cannot have.
 */
export const hostOfTopic = (topicArn: string): string | null => {
  const [, name = '', region = ''] = TOPIC.exec(topicArn) ?? [];
  const partition = PARTITIONS.get(name);
  return partition?.region.test(region) ? `sns.${region}.${partition.domain}` : null;
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
