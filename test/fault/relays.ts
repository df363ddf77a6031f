import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NewProvider } from '../../src/providers/providers.ts';
import { readMail } from '../../src/runtime/mail_catcher/read_mail.ts';
import { ACCESS_KEY_ID, MESSAGE_ID, readSent } from '../support/cloud_sink.ts';
import { HttpsSink } from '../support/https_sink.ts';
import type { SunkRequest } from '../support/https_sink.ts';
import { API_KEY, mimeOf } from '../support/relay_sink.ts';
import type { Action, Stage } from '../support/smtp_script.ts';
import { startSmtpSink } from '../support/smtp_sink.ts';
import type { SinkMail, SmtpSink } from '../support/smtp_sink.ts';

/** A whole message as a provider got it. */
export type Seen = {
  provider: string;
  /** Whether the provider keeps it, by what it answered: unknown where whoever sent it was not told, or not clearly. */
  taken: 'yes' | 'no' | 'unknown';
  send_id: string | null;
  message_id: string | null;
  to: string[];
  /** Milliseconds since 1970: of the message, or of the request that holds it. */
  firstByteAt: number | null;
};

export type Relays = {
  /** Never behaves badly: what is sent through it shows how fast work goes on. */
  calm: SmtpSink;
  wild: SmtpSink;
  relay: HttpsSink;
  cloud: HttpsSink;
  env: Record<string, string>;
  providers: Record<'calm' | 'wild' | 'relay' | 'cloud', NewProvider>;
  /** What must be read nowhere. */
  secrets: Record<string, string>;
  listSeen: () => Promise<Seen[]>;
  /** The wild one does this at that stage, so many times at most, until all behave again. */
  misbehave: (stage: Stage, action: Action, times: number) => void;
  /** From now on all behave well. */
  behave: () => void;
  close: () => Promise<void>;
};

/** So much a day that it is never used up: what is used of it is counted. */
const RAMP = { started_on: new Date().toISOString().slice(0, 10), stages: [1_000_000] };

const CLOUD_SECRET = 'wJalrXUtnFEMIK7MDENGbPxRfiCYsecretoftheharness';

/** Whom the preflight of Amazon SES sends to. */
const SIMULATOR = 'success@simulator.amazonses.com';

const sender = (name: string) => ({
  display_name: name,
  from_email: `${name}@shop.test`,
  from_name: 'Shop',
  reply_to: null,
});

const headerOf = (mail: Pick<SinkMail, 'headers'>): string | null =>
  [mail.headers['x-trunkline-send-id'] ?? []].flat()[0] ?? null;

const takenBySmtp = ({ answer }: SinkMail): Seen['taken'] => {
  if (answer === null) return 'unknown';
  return answer < 400 ? 'yes' : 'no';
};

/** A server that fails may have taken it before. */
const takenByHttp = ({ answer }: SunkRequest): Seen['taken'] => {
  if (answer === null || answer >= 500) return 'unknown';
  return answer < 400 ? 'yes' : 'no';
};

const seenBySmtp =
  (provider: string) =>
  (mail: SinkMail): Seen => ({
    provider,
    taken: takenBySmtp(mail),
    send_id: mail.send_id,
    message_id: mail.message_id,
    to: mail.to,
    firstByteAt: mail.firstByteAt,
  });

const seenByHttp = async (
  provider: string,
  request: SunkRequest,
  { raw, to }: { raw: Buffer; to: string[] },
): Promise<Seen> => {
  const mail = await readMail(raw);
  const { message_id } = mail;
  const [taken, firstByteAt] = [takenByHttp(request), request.at];
  return { provider, taken, send_id: headerOf(mail), message_id, to, firstByteAt };
};

const usualRelay = ({ path }: SunkRequest) =>
  path.endsWith('/api_keys/permissions')
    ? { status: 200, json: { request_id: 'r', data: ['/email/send', '/email/mime'] } }
    : {
        status: 200,
        json: {
          request_id: 'r',
          data: { succeeded: 1, failed: 0, failures: [], email_id: `r-${crypto.randomUUID()}` },
        },
      };

const usualCloud = () => ({
  status: 200,
  json: { MessageId: MESSAGE_ID.replace('0100018b', crypto.randomUUID().slice(0, 8)) },
});

/** Four providers, of each kind one that may behave badly. */
export const openRelays = async (): Promise<Relays> => {
  const calm = await startSmtpSink();
  const wild = await startSmtpSink();
  const relay = await new HttpsSink({ secure: false, usually: usualRelay }).start();
  const cloud = await new HttpsSink({ secure: false, usually: usualCloud }).start();
  const folder = await mkdtemp(join(tmpdir(), 'fault-authorities-'));
  const caFile = join(folder, 'ca.pem');
  const authorities = await Promise.all([calm, wild].map((sink) => readFile(sink.caFile, 'utf8')));
  await writeFile(caFile, authorities.join('\n'));
  let mood = 0;
  const cloudKey = { access_key_id: ACCESS_KEY_ID, secret_access_key: CLOUD_SECRET };
  return {
    calm,
    wild,
    relay,
    cloud,
    env: { NODE_EXTRA_CA_CERTS: caFile, RELAY_API_URL: relay.url, CLOUD_API_URL: cloud.url },
    providers: {
      calm: { ...sender('calm'), ...calm.settings },
      wild: { ...sender('wild'), ...wild.settings, ramp: RAMP },
      relay: { ...sender('relay'), provider: 'relay_api', api_key: API_KEY },
      cloud: { ...sender('cloud'), provider: 'cloud_api', region: 'eu-central-1', ...cloudKey },
    },
    secrets: {
      'the password of SMTP': calm.settings.provider === 'smtp' ? calm.settings.password : '',
      'the key of the relay': API_KEY,
      'the key of the cloud': CLOUD_SECRET,
    },
    listSeen: async () =>
      [
        ...calm.mails.map(seenBySmtp('calm')),
        ...wild.mails.map(seenBySmtp('wild')),
        ...(await Promise.all(
          relay.requests
            .filter(({ path, body }) => path.endsWith('/email/mime') && body.length > 0)
            .map((request) =>
              seenByHttp('relay', request, { raw: Buffer.from(mimeOf(request)), to: [] }),
            ),
        )),
        ...(await Promise.all(
          cloud.requests
            .filter(({ body }) => body.length > 0)
            .map((request) => {
              const { Content, Destination } = readSent(request);
              const raw = Buffer.from(Content.Raw.Data, 'base64');
              return seenByHttp('cloud', request, { raw, to: Destination.ToAddresses });
            }),
        )),
      ].filter(({ to }) => !to.includes(SIMULATOR)),
    misbehave: (stage, action, times) => {
      const of = mood;
      wild.play(stage, action, { times, when: () => mood === of });
    },
    behave: () => {
      mood += 1;
      for (const sink of [relay, cloud]) sink.forgive();
    },
    close: async () => {
      await Promise.all([calm, wild, relay, cloud].map((sink) => sink.close()));
      await rm(folder, { recursive: true });
    },
  };
};
