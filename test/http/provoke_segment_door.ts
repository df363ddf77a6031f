// What provokes a refusal at the Segment-compatible door, where its words are others.
import type { Endpoint } from '../../src/http/openapi_read.ts';
import type { Answer, TestApi } from '../support/api.ts';

export const isOfSegment = ({ path }: Endpoint): boolean => path.startsWith('/segment/');

export const LONG_AGO_IN_SEGMENTS_WORDS = {
  event: 'Made',
  userId: 'ann',
  timestamp: '1999-01-01T00:00:00Z',
};

/** Links, at the word of a server. */
export const aliasInSegmentsWords = (
  { call, project }: TestApi,
  previousId: string,
  userId: string,
): Promise<Answer> =>
  call('POST', '/segment/v1/alias', { key: project.server_key, body: { previousId, userId } });

/** Says what is known of somebody, at the word of a server. */
export const identifyInSegmentsWords = (
  { call, project }: TestApi,
  userId: string,
  traits: object,
): Promise<Answer> =>
  call('POST', '/segment/v1/identify', { key: project.server_key, body: { userId, traits } });
