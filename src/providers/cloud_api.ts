import type { SESv2Client } from '@aws-sdk/client-sesv2';
import { openHttps } from '../base/https.ts';
import type { Exchange, HttpsConnection } from '../base/https.ts';
import type { TraceHeader } from '../base/traceparent.ts';
import { classify } from './cloud_errors.ts';
import { endpointOf } from './cloud_region.ts';
import { waitsOf } from './http_answers.ts';
import { deferred } from './outcome.ts';
import type { PreflightOutcome, SendOutcome } from './outcome.ts';
import { probeMessage } from './probe_message.ts';
import type { Parties } from './reply.ts';
import type { CloudSettings } from './settings.ts';
import { failed } from './transport.ts';
import type { ConnectOutcome, Link, Network, Transport, WireMessage } from './transport.ts';

/** Takes every message, also from a sandboxed account, and delivers none. */
export const SIMULATOR = 'success@simulator.amazonses.com';
/** What feedback will call the send. */
const SEND_ID_TAG = 'send_id';

/** What the client's own code asks of a request handler, as far as we use it. */
type SdkRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
};

/** One request of the client over a connection of ours; remembers what became of it. */
class Handler {
  readonly #connection: HttpsConnection;
  exchange: Exchange | null = null;
  mayStart: () => boolean = () => true;
  /** Not signed: it is added to what the client has signed. */
  trace: TraceHeader = {};

  constructor(connection: HttpsConnection) {
    this.#connection = connection;
  }

  async handle({ method, path, headers, body = '' }: SdkRequest) {
    const bytes =
      typeof body === 'string'
        ? Buffer.from(body)
        : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const traced = { ...headers, ...this.trace };
    const asked = { method, path, headers: traced, body: bytes, mayStart: this.mayStart };
    const exchange = await this.#connection.exchange(asked);
    this.exchange = exchange;
    if (exchange.kind !== 'answered') throw new Error(exchange.kind);
    const { status: statusCode, headers: answered, body: bytesOfAnswer } = exchange;
    return {
      response: { statusCode, headers: answered, body: bytesOfAnswer ?? Buffer.alloc(0) },
    };
  }
}

/** Loaded at first use: most processes never send this way, and it takes a tenth of a second. */
const load = () => import('@aws-sdk/client-sesv2');

/**
 * A client that knows nothing but what it is given: everything that it would look up in the
 * environment, in files or at a metadata service is said here.
 */
const makeClient = async (
  { region, access_key_id, secret_access_key }: CloudSettings,
  url: URL,
  handler: Handler,
): Promise<SESv2Client> => {
  const { SESv2Client: Client } = await load();
  return new Client({
    region,
    endpoint: url.href,
    credentials: { accessKeyId: access_key_id, secretAccessKey: secret_access_key },
    maxAttempts: 1,
    retryMode: 'standard',
    defaultsMode: 'standard',
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    userAgentAppId: '',
    authSchemePreference: [],
    sigv4aSigningRegionSet: [region],
    requestHandler: handler as never,
  });
};

/** What became of a request that the client did not take for a success. */
const toOutcome = (exchange: Exchange | null, error: unknown, parties: Parties): SendOutcome => {
  switch (exchange?.kind) {
    case 'answered': {
      const { name, message } = error as Error;
      return classify({ name, message }, exchange, parties);
    }
    case 'lost':
      return { kind: 'unknown' };
    case 'not_started':
      return { kind: 'not_started' };
    default:
      return deferred('connection_failed', 'provider');
  }
};

type Session = { client: SESv2Client; handler: Handler; secrets: readonly string[] };

const sendOver = async (
  { client, handler, secrets }: Session,
  { sendId, from, to, raw, trace = {}, mayStart }: WireMessage,
): Promise<SendOutcome> => {
  const { SendEmailCommand } = await load();
  const command = new SendEmailCommand({
    FromEmailAddress: from,
    Destination: { ToAddresses: [to] },
    Content: { Raw: { Data: raw } },
    EmailTags: [{ Name: SEND_ID_TAG, Value: sendId }],
  });
  handler.exchange = null;
  handler.mayStart = mayStart;
  handler.trace = trace;
  try {
    const { MessageId } = await client.send(command);
    // Taken by a status that says so; without the id nobody can be sure by whom.
    return MessageId ? { kind: 'accepted', providerMessageId: MessageId } : { kind: 'unknown' };
  } catch (error) {
    return toOutcome(handler.exchange, error, { from, to, secrets });
  }
};

const open = async (settings: CloudSettings, network: Network): Promise<ConnectOutcome> => {
  const url = network.cloudApiUrl ? new URL(network.cloudApiUrl) : endpointOf(settings.region);
  const opened = await openHttps(url, network, network.httpsTimeouts);
  if (opened.kind === 'failed') {
    // Amazon's host is made of the region: a name that nobody knows is a region that does not exist.
    const { reason } = opened;
    return {
      kind: 'failed',
      outcome:
        reason === 'unresolvable'
          ? deferred('region_mismatch', 'park')
          : deferred(reason, waitsOf(reason)),
    };
  }
  const { connection } = opened;
  const handler = new Handler(connection);
  const client = await makeClient(settings, url, handler);
  const secrets = [settings.access_key_id, settings.secret_access_key];
  const link: Link = {
    get isOpen() {
      return connection.isOpen;
    },
    send: (message) => sendOver({ client, handler, secrets }, message),
    close: () => connection.close(),
  };
  return { kind: 'connected', link };
};

/** Sends for real, to the simulator: nothing less proves key, permission, region and sender at once. */
const preflight = async (
  settings: CloudSettings,
  network: Network,
  fromEmail: string,
): Promise<PreflightOutcome> => {
  const opened = await open(settings, network);
  const outcome =
    opened.kind === 'failed'
      ? opened.outcome
      : await opened.link.send(probeMessage({ from: fromEmail, to: SIMULATOR }));
  if (opened.kind === 'connected') opened.link.close();
  if (outcome.kind === 'accepted') return { kind: 'passed' };
  return failed('reason' in outcome ? outcome.reason : 'provider_unavailable');
};

/** Amazon SES in one region. */
export const cloudApi: Transport<CloudSettings> = { preflight, connect: open };
