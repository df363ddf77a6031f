import { readTypedAddress } from './addresses.ts';
import { fieldOf, readBlocks } from './fields.ts';
import type { Fields } from './fields.ts';
import { EXPLANATION_CHARS_MAX, RECIPIENTS_MAX } from './limits.ts';
import { headerOf } from './parts.ts';
import type { Parts } from './parts.ts';
import type { Report, Reported, ReportedRecipient } from './report.ts';
import { readReturned, splitText } from './returned.ts';

const STATUS = /\b([245])\.\d{1,3}\.\d{1,3}\b/;
const TYPE = /^[a-z0-9-]{1,40}\s{0,8};\s{0,8}/i;

/** RFC 3464 §2.3.3, and what some servers write instead. `relayed` and `expanded` prove no delivery. */
const ACTIONS: readonly (readonly [RegExp, Reported])[] = [
  [/^(?:failed|failure|expired|bounced)/i, 'bounced'],
  [/^(?:delayed|deferred)/i, 'deferred'],
  [/^delivered/i, 'delivered'],
  [/^(?:relayed|expanded|relay)/i, 'accepted'],
];
const BY_CLASS: Record<string, Reported> = { '2': 'delivered', '4': 'deferred', '5': 'bounced' };

const kindOf = (fields: Fields): Reported | null => {
  const action = fieldOf(fields, 'action') ?? '';
  const known = ACTIONS.find(([words]) => words.test(action));
  if (known) return known[1];
  const [, status = ''] = STATUS.exec(fieldOf(fields, 'status') ?? '') ?? [];
  return BY_CLASS[status] ?? null;
};

/** A status that says which subject failed, unlike `5.0.0`. */
const TELLING = /\b[45]\.(?:[1-9]\d{0,2}\.\d{1,3}|0\.[1-9]\d{0,2})\b/;
const ENHANCED = /\b[245]\.\d{1,3}\.\d{1,3}\b/;

/** The reply of the other host with the status beside it; without both, the words for people. */
const diagnosticOf = (fields: Fields, explanation: string): string | null => {
  const [status = ''] = STATUS.exec(fieldOf(fields, 'status') ?? '') ?? [];
  const said = (fieldOf(fields, 'diagnostic-code') ?? '').replace(TYPE, '').trim();
  if (said !== '') return ENHANCED.test(said) || status === '' ? said : `${status} ${said}`;
  if (TELLING.test(status)) return status;
  const words = explanation.trim().slice(0, EXPLANATION_CHARS_MAX);
  return `${status} ${words}`.trim() || null;
};

const toRecipient = (fields: Fields, explanation: string): ReportedRecipient | null => {
  const kind = kindOf(fields);
  if (kind === null) return null;
  const final = readTypedAddress(fieldOf(fields, 'final-recipient'));
  const original = readTypedAddress(fieldOf(fields, 'original-recipient'));
  const addresses = [...new Set([original, final].filter((one) => one !== null))];
  return {
    kind,
    addresses,
    isForwarded: new Set(addresses.map((one) => one.toLowerCase())).size > 1,
    diagnostic:
      kind === 'bounced' || kind === 'deferred' ? diagnosticOf(fields, explanation) : null,
  };
};

const isStatus = ({ type }: { type: string }): boolean =>
  type === 'message/delivery-status' || type === 'message/global-delivery-status';

/** Reads a delivery status notification (RFC 3464); null for an email without one. */
export const readDeliveryStatus = (email: Parts): Report | null => {
  const status = email.parts.find(isStatus);
  if (!status) return null;
  const { explanation, copy } = splitText(email.text);
  const blocks = readBlocks(status.content, RECIPIENTS_MAX + 1);
  const recipients = blocks.flatMap((fields) => toRecipient(fields, explanation) ?? []);
  if (recipients.length === 0) return null;
  const [first] = blocks;
  const sender = first ? fieldOf(first, 'x-postfix-sender') : null;
  return {
    recipients: recipients.slice(0, RECIPIENTS_MAX),
    ...readReturned(email, copy, [sender]),
    time: headerOf(email, 'date') || null,
  };
};
