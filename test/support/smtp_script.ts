import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import type { SmtpSettings } from '../../src/providers/settings.ts';

/** The moments of a conversation at which a script may interfere. `end` is after the whole message. */
export type Stage = 'connect' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body' | 'end';

/**
 * What to do instead of going on: answer with a code; never answer; cut the connection; go on later, or once something
 * has happened. In the body: cut the connection after so many bytes, or take at most so many bytes a second.
 */
export type Action =
  | { code: number; text?: string }
  | 'hang'
  | 'drop'
  | { delayMs: number }
  | { until: Promise<unknown> }
  | { dropAfterBytes: number }
  | { bytesPerSecond: number };

/** `raw` is the message, at its end. */
export type Moment = { connection: number; from: string; to: string[]; raw?: Buffer };
export type Limits = { times?: number; when?: (moment: Moment) => boolean };

export const reply = (responseCode: number, text = 'scripted'): Error =>
  Object.assign(new Error(text), { responseCode });
export const isReply = (action: Action | null): action is { code: number; text?: string } =>
  typeof action === 'object' && action !== null && 'code' in action;

const delayOf = (action: Action | null): number =>
  typeof action === 'object' && action !== null && 'delayMs' in action ? action.delayMs : 0;

/** Goes on: at once where the action delays nothing. */
export const goOn = (action: Action | null, work: () => void): unknown => {
  if (typeof action === 'object' && action !== null && 'until' in action)
    return action.until.then(work);
  const ms = delayOf(action);
  return ms === 0 ? work() : setTimeout(work, ms);
};

/** Whether the relay takes the message, at once or later. */
export const isTaking = (action: Action | null): boolean =>
  action === null || (typeof action === 'object' && ('delayMs' in action || 'until' in action));

const MS_PER_SECOND = 1_000;

type Rule = {
  stage: Stage;
  action: Action;
  left: number;
  when: (moment: Moment) => boolean;
};
export const momentOf = (connection: number, { envelope }: SMTPServerSession): Moment => ({
  connection,
  from: (envelope.mailFrom && envelope.mailFrom.address) || '',
  to: envelope.rcptTo.map(({ address }) => address),
});

/** The bytes of one message, and whether its end came. */
export const readMessage = async (
  stream: SMTPServerDataStream,
  socket: Socket | undefined,
  body: Action | null,
) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let firstByteAt: number | null = null;
  let owedMs = 0;
  const dropAfter =
    body === 'drop'
      ? 0
      : body && typeof body === 'object' && 'dropAfterBytes' in body
        ? body.dropAfterBytes
        : Infinity;
  const isSlow = body !== null && typeof body === 'object' && 'bytesPerSecond' in body;
  if (dropAfter === 0) socket?.destroy();
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      firstByteAt ??= performance.timeOrigin + performance.now();
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= dropAfter) socket?.destroy();
      if (isSlow) owedMs += (chunk.length / body.bytesPerSecond) * MS_PER_SECOND;
      // No timer is shorter.
      if (owedMs < 1) continue;
      await wait(owedMs);
      owedMs = 0;
    }
  } catch {
    return { raw: Buffer.concat(chunks), firstByteAt, isWhole: false };
  }
  return { raw: Buffer.concat(chunks), firstByteAt, isWhole: bytes < dropAfter };
};

/** What a test wants done, in the order in which it said so. */
export class Script {
  #rules: Rule[] = [];
  /** What was played since it was forgotten, in order. */
  played: Action[] = [];

  play(stage: Stage, action: Action, { times = Infinity, when = () => true }: Limits): void {
    this.#rules.push({ stage, action, left: times, when });
  }

  /** The first rule that fits, once more used up; null to go on as usual. */
  find(stage: Stage, moment: Moment): Action | null {
    const rule = this.#rules.find((one) => one.stage === stage && one.left > 0 && one.when(moment));
    if (!rule) return null;
    rule.left -= 1;
    this.played.push(rule.action);
    return rule.action;
  }

  reset(): void {
    this.#rules = [];
    this.played = [];
  }
}

export type SinkOptions = {
  host?: string;
  /** A port that was used before, to come back on; else a free one. */
  port?: number;
  /** Names in the certificate. */
  hosts?: string[];
  /** When the certificate was made: it is good for a year. */
  madeAt?: Date;
  /** How it speaks TLS: as `smtp_secure` says it. */
  secure?: SmtpSettings['smtp_secure'];
  /** Whether this process trusts its certificate. */
  trusted?: boolean;
  offersAuth?: boolean;
};
