// Composed payloads of vendors, in the shapes that their manuals show.
import { randomUUID } from 'node:crypto';

const AT = '2026-11-20T10:15:02Z';
const SECONDS = Date.parse(AT) / 1_000;
const EMAIL = 'ann@example.net';

export const POSTMARK_ID = '2c8a3f0e-5b1d-4e77-9a51-6f0c1b2d3e4f';

export const postmarkEvent = (RecordType: string, given: object = {}) => ({
  RecordType,
  MessageID: POSTMARK_ID,
  ServerID: 23,
  MessageStream: 'outbound',
  Tag: 'welcome',
  Metadata: {},
  Recipient: EMAIL,
  [{ Delivery: 'DeliveredAt', SubscriptionChange: 'ChangedAt' }[RecordType] ?? 'ReceivedAt']: AT,
  ...given,
});

export const postmarkBounce = (Type: string, given: object = {}) => ({
  RecordType: 'Bounce',
  ID: 692_560_173,
  Type,
  TypeCode: 1,
  Name: Type,
  MessageID: POSTMARK_ID,
  ServerID: 23,
  MessageStream: 'outbound',
  Metadata: {},
  Description: '',
  Details: '',
  Email: EMAIL,
  From: 'hello@mail.shop.test',
  BouncedAt: AT,
  Inactive: true,
  Subject: 'Welcome',
  ...given,
});

export const sendgridEvent = (event: string, given: object = {}) => ({
  email: EMAIL,
  timestamp: SECONDS,
  'smtp-id': '<14c5d75ce93.dfd.64b469@mail.shop.test>',
  event,
  sg_event_id: randomUUID(),
  sg_message_id: 'wrfRRvF7Q0GgwUo2CvDmEA.filter0001.16648.5515E0B88.0',
  ...given,
});

export const resendEvent = (type: string, given: object = {}) => ({
  type,
  created_at: AT,
  data: {
    created_at: AT,
    email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
    from: 'Shop <hello@mail.shop.test>',
    to: [EMAIL],
    subject: 'Welcome',
    ...given,
  },
});

export const brevoEvent = (event: string, given: object = {}) => ({
  event,
  email: EMAIL,
  id: 814_119,
  'message-id': '<202611201015.21287306012@smtp-relay.mailin.fr>',
  date: '2026-11-20 11:15:02',
  ts_event: SECONDS,
  ts_epoch: SECONDS * 1_000,
  ...given,
});

export const mailjetEvent = (event: string, given: object = {}) => ({
  event,
  time: SECONDS,
  MessageID: 1_433_333_949,
  Message_GUID: '1ab23cd4-e567-4901-a345-6789f0fa1b2c',
  email: EMAIL,
  CustomID: '',
  Payload: '',
  ...given,
});

export const sparkpostEvent = (type: string, given: object = {}, group = 'message_event') => ({
  msys: {
    [group]: {
      type,
      event_id: randomUUID(),
      message_id: '000443ee14578172be22',
      transmission_id: '65832150921904138',
      rcpt_to: EMAIL,
      raw_rcpt_to: EMAIL,
      rcpt_meta: {},
      timestamp: String(SECONDS),
      ...given,
    },
  },
});
