import * as alerts from '../../alerts/alerts.ts';
import type { Scope } from '../../base/db.ts';
import * as delivery from '../../delivery/delivery.ts';
import * as ingest from '../../ingest/ingest.ts';
import * as profiles from '../../profiles/profiles.ts';
import type { DeliveryRow } from './delivery_queries.ts';
import { TEST_TYPE } from './event_types.ts';

/** The JSON of a message, or why there is none any more. */
export type Written = { body: string } | { body: null; reason: 'person_erased' | 'alert_gone' };

const TEST_MESSAGE =
  'This is a test event of Trunkline. Your endpoint receives and verifies webhooks.';

type Content = { timestamp: Date; data: object };

const writeAlert = async (scope: Scope, row: DeliveryRow): Promise<Content | null> => {
  const alert = await alerts.findAlert(scope, row.alert_id ?? '');
  if (!alert) return null;
  const status = row.alert_status ?? 'open';
  const timestamp = status === 'open' ? alert.opened_at : (alert.resolved_at ?? row.queued_at);
  return { timestamp, data: { alert: alerts.toAlert(scope, alert, status) } };
};

/** The address of the person now, for what is about no send: an unsubscribe that a server made, for one. */
const findEmail = async (scope: Scope, event: ingest.Event): Promise<string | null> => {
  const subject =
    event.external_id === null
      ? ({ by: 'anonymous', value: event.anonymous_id ?? '' } as const)
      : ({ by: 'external', value: event.external_id } as const);
  const [profile] = await profiles.listProfiles(scope, subject);
  return profile?.email ?? null;
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const writeEmail = async (scope: Scope, row: DeliveryRow): Promise<Content | null> => {
  const { event_id: eventId, event_at: occurredAt } = row;
  if (eventId === null || occurredAt === null) return null;
  const [event] = await ingest.listEvents(scope, [{ eventId, occurredAt }]);
  if (!event) return null;
  const { send_id, automation_id, step_id, template_id, bounce_type, ...others } = event.properties;
  const sendId = textOf(send_id);
  const send = sendId === null ? null : await delivery.findSend(scope, sendId);
  const to = send ? send.recipient : await findEmail(scope, event);
  return {
    timestamp: event.occurred_at,
    data: {
      person: { external_id: event.external_id, anonymous_id: event.anonymous_id },
      email: {
        to,
        send_id: sendId,
        automation_id: textOf(automation_id),
        step_id: textOf(step_id) ?? send?.step_id ?? null,
        template_id: textOf(template_id) ?? send?.template_id ?? null,
        provider_id: send?.provider_id ?? null,
      },
      bounce_type: textOf(bounce_type),
      reported_by: textOf(others['webhook'] ?? others['hand_off'] ?? others['by']),
    },
  };
};

/**
 * Writes the JSON of a delivery from the rows that it names. Nothing of a person is kept with a delivery, so an erase
 * leaves nothing to send.
 */
export const writeDelivery = async (scope: Scope, row: DeliveryRow): Promise<Written> => {
  const toBody = ({ timestamp, data }: Content): Written => ({
    body: JSON.stringify({
      id: row.message_id,
      type: row.type,
      timestamp: timestamp.toISOString(),
      data,
    }),
  });
  if (row.type === TEST_TYPE)
    return toBody({ timestamp: row.queued_at, data: { message: TEST_MESSAGE } });
  if (row.alert_id !== null) {
    const content = await writeAlert(scope, row);
    return content ? toBody(content) : { body: null, reason: 'alert_gone' };
  }
  const content = await writeEmail(scope, row);
  return content ? toBody(content) : { body: null, reason: 'person_erased' };
};
