import { z } from 'zod';
import { openHttps } from '../base/https.ts';
import type { Exchange, HttpsAnswer, HttpsConnection } from '../base/https.ts';
import type { TraceHeader } from '../base/traceparent.ts';
import { classifyRepeatedReply } from './answers/answers.ts';
import { readJson, reasonOf, refusalOf, waitsOf } from './http_answers.ts';
import { BAD_ADDRESS, afterText, bounced, deferred } from './outcome.ts';
import type { PreflightOutcome, SendOutcome } from './outcome.ts';
import { outcomeOf } from './outcome_of.ts';
import { toReply } from './reply.ts';
import type { Parties } from './reply.ts';
import type { RelaySettings } from './settings.ts';
import { failed } from './transport.ts';
import type { ConnectOutcome, Link, Network, Transport, WireMessage } from './transport.ts';

/** What a key has to be allowed to. */
const SEND_PERMISSION = '/email/send';

const Texts = z.union([z.string(), z.record(z.string(), z.unknown()), z.array(z.unknown())]);
const Problem = z.object({
  error: Texts.optional(),
  error_code: z.string().optional(),
  field_validation_errors: Texts.optional(),
});

/** SMTP2GO tells of errors at the top, in `data`, or inside a 200, in shapes that differ. */
const Answer = Problem.extend({
  data: z
    .union([
      Problem.extend({
        email_id: z.string().max(200).optional(),
        succeeded: z.number().optional(),
        failed: z.number().optional(),
        failures: z.array(z.unknown()).optional(),
      }),
      z.array(z.unknown()),
    ])
    .optional(),
});
type Answer = z.output<typeof Answer>;
type Data = Exclude<Answer['data'], unknown[] | undefined>;

const readAnswer = (answer: HttpsAnswer): Answer | null =>
  Answer.safeParse(readJson(answer)).data ?? null;

const dataOf = ({ data }: Answer): Data | null =>
  data === undefined || Array.isArray(data) ? null : data;

const toText = (told: readonly unknown[]): string =>
  told
    .filter((one) => one !== undefined && !(Array.isArray(one) && one.length === 0))
    .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    .join(' ');

/** What receivers said, passed on: nothing else in an answer is about a mailbox. */
const failuresOf = (read: Answer): string => toText(dataOf(read)?.failures ?? []);

/** Everything that the provider says of errors itself, as one text. */
const problemOf = (read: Answer): string =>
  toText(
    [read, dataOf(read)].flatMap((one) => [
      one?.error_code,
      one?.error,
      one?.field_validation_errors,
    ]),
  );

/** A field of whom the message is for, and that what stands there is no address. */
const RECIPIENT_FIELD = /^(?:to|rcpt|recipients?)$/i;
const NO_ADDRESS = /valid (?:rfc-?\d{3,4} )?(?:formatted )?(?:e-?mail|address)/i;
const Field = z.object({ fieldname: z.string(), message: z.string() });

const isNoAddress = (field: unknown): boolean => {
  const { data } = Field.safeParse(field);
  return (
    data !== undefined && RECIPIENT_FIELD.test(data.fieldname) && NO_ADDRESS.test(data.message)
  );
};

/** Answers that were made of the message. What fails on the way to that may hold any number. */
const OF_MESSAGE: readonly number[] = [200, 400];

/** The provider's own check of the recipient, before it passes the message on. */
const isBadRecipient = ({ status }: HttpsAnswer, read: Answer): boolean => {
  const fields = [read, dataOf(read)].map((one) => one?.field_validation_errors);
  return OF_MESSAGE.includes(status) && fields.flat().some(isNoAddress);
};

/** What a receiver answered, passed on: it is about its recipient, like a reply to RCPT TO. */
const ofReceiver = (failures: string, { from, to, secrets }: Parties): SendOutcome => {
  const classified = classifyRepeatedReply({ reply: failures, phase: 'rcpt', from, to });
  const outcome = outcomeOf(classified, { text: failures });
  const ofOne = outcome.kind === 'deferred' ? { isOfOne: true as const } : {};
  return { ...afterText(outcome), ...ofOne, reply: toReply(failures, { to, secrets }) };
};

/** Errors inside a 200 mean what they mean with this status. */
const BAD_REQUEST = 400;

/** Returns what an answer to a message means. A 200 says that it was read, not that it was taken. */
export const classify = (answer: HttpsAnswer, parties: Parties): SendOutcome => {
  const read = readAnswer(answer);
  if (read && isBadRecipient(answer, read)) return bounced(BAD_ADDRESS);
  const failures = read ? failuresOf(read) : '';
  if (failures !== '' && OF_MESSAGE.includes(answer.status)) return ofReceiver(failures, parties);
  const data = read && dataOf(read);
  const problem = read ? problemOf(read) : '';
  const isOk = answer.status >= 200 && answer.status < 300;
  if (!isOk || problem !== '' || (data?.failed ?? 0) > 0)
    return refusalOf(isOk ? { ...answer, status: BAD_REQUEST } : answer, {
      provider: 'SMTP2GO',
      ...parties,
    });
  if (!data || (data.email_id === undefined && !data.succeeded)) return { kind: 'unknown' };
  return { kind: 'accepted', providerMessageId: data.email_id ?? null };
};

/** What became of a request to the provider, whatever it asked for. */
const toOutcome = (exchange: Exchange, parties: Parties): SendOutcome => {
  switch (exchange.kind) {
    case 'answered':
      return classify(exchange, parties);
    case 'not_started':
      return { kind: 'not_started' };
    case 'not_written':
      return deferred('connection_failed', 'provider');
    case 'lost':
      return { kind: 'unknown' };
  }
};

type Call = { path: string; apiKey: string; body: object; trace: TraceHeader };

const post = (
  connection: HttpsConnection,
  { relayApiUrl }: Network,
  { path, apiKey, body, trace }: Call,
  mayStart: () => boolean,
): Promise<Exchange> =>
  connection.exchange({
    method: 'POST',
    path: `${new URL(relayApiUrl).pathname.replace(/\/$/, '')}${path}`,
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      'X-Smtp2go-Api-Key': apiKey,
      ...trace,
    },
    body: Buffer.from(JSON.stringify(body)),
    mayStart,
  });

const toLink = (connection: HttpsConnection, settings: RelaySettings, network: Network): Link => ({
  get isOpen() {
    return connection.isOpen;
  },
  send: async ({ from, to, raw, trace = {}, mayStart }: WireMessage) => {
    const body = { mime_email: raw.toString('base64') };
    const call = { path: '/email/mime', apiKey: settings.api_key, body, trace };
    const parties = { from, to, secrets: [settings.api_key] };
    return toOutcome(await post(connection, network, call, mayStart), parties);
  },
  close: () => connection.close(),
});

const open = (network: Network) =>
  openHttps(new URL(network.relayApiUrl), network, network.httpsTimeouts);

const connect = async (settings: RelaySettings, network: Network): Promise<ConnectOutcome> => {
  const opened = await open(network);
  if (opened.kind === 'connected')
    return { kind: 'connected', link: toLink(opened.connection, settings, network) };
  return { kind: 'failed', outcome: deferred(reasonOf(opened.reason), waitsOf(opened.reason)) };
};

/** What a key's own list of permissions proves: that the key is known, and that it may send. */
export const readPermissions = (answer: HttpsAnswer): PreflightOutcome => {
  const data = readAnswer(answer)?.data;
  if (answer.status === 200 && Array.isArray(data))
    return data.includes(SEND_PERMISSION) ? { kind: 'passed' } : failed('permission_denied');
  const outcome = classify(answer, { from: '', to: '', secrets: [] });
  return failed('reason' in outcome ? outcome.reason : 'provider_unavailable');
};

const preflight = async (settings: RelaySettings, network: Network): Promise<PreflightOutcome> => {
  const opened = await open(network);
  if (opened.kind === 'failed') return failed(reasonOf(opened.reason));
  const call = { path: '/api_keys/permissions', apiKey: settings.api_key, body: {}, trace: {} };
  const exchange = await post(opened.connection, network, call, () => true);
  opened.connection.close();
  return exchange.kind === 'answered' ? readPermissions(exchange) : failed('connection_failed');
};

/** SMTP2GO's HTTPS API. The preflight asks what the key may do, and sends nothing. */
export const relayApi: Transport<RelaySettings> = { preflight, connect };
