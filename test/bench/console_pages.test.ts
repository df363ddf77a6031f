import { expect, test } from 'vitest';
import { procedures } from '../admin/role_table.ts';
import { NO_PAGES, pagesOf } from './console_pages.ts';
import type { Subject } from './console_subject.ts';

const SUBJECT: Subject = {
  projectId: '',
  until: new Date(),
  person: { externalId: '', anonymousId: '', email: '', profileId: '' },
  sendId: '',
  linkId: '',
  middleEntry: 0,
  suppressed: '',
  unsubscribed: '',
  automationId: '',
  segmentIds: [''],
  templateId: '',
  providerId: '',
  endpointId: '',
  busyId: '',
  idleId: '',
  busyProfileId: '',
};

test('whatever the Console may ask is measured: a procedure that no page asks would be measured by nobody', () => {
  const asked = new Set([...pagesOf(SUBJECT).map(({ procedure }) => procedure), ...NO_PAGES]);
  const queries = procedures.filter(({ type }) => type === 'query').map(({ name }) => name);
  expect(queries.filter((name) => !asked.has(name))).toEqual([]);
});
