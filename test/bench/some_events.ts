import { randomUUID } from 'node:crypto';

const PEOPLE = 5_000;
const NAMES = ['page_viewed', 'element_clicked', 'trial_started', 'report_exported', 'plan_viewed'];
const DAY_MS = 86_400_000;

export type BenchEvent = {
  event: string;
  external_id: string;
  anonymous_id: string;
  properties: string;
  occurred_at: string;
  message_id: string;
};

let made = 0;

/** The next event of a busy project: some thousand people, today, a handful of properties. */
export const nextEvent = (): BenchEvent => {
  made += 1;
  const person = (made * 7_919) % PEOPLE;
  return {
    event: NAMES[made % NAMES.length] ?? '',
    external_id: `user-${person}`,
    anonymous_id: `device-${person}`,
    properties: JSON.stringify({
      path: `/reports/${made % 97}`,
      title: 'Weekly report',
      seconds: made % 613,
      plan: 'pro',
      is_trial: false,
    }),
    occurred_at: new Date(Date.now() - ((made * 104_729) % DAY_MS)).toISOString(),
    message_id: randomUUID(),
  };
};

/** As a client writes it. */
export const toJson = (event: BenchEvent): string =>
  `{"event":"${event.event}","external_id":"${event.external_id}","anonymous_id":"${event.anonymous_id}",` +
  `"properties":${event.properties},"occurred_at":"${event.occurred_at}","message_id":"${event.message_id}"}`;

export const nextBatch = (count: number): string =>
  `{"events":[${Array.from({ length: count }, () => toJson(nextEvent())).join(',')}]}`;
