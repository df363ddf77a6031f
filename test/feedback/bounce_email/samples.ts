import { COMPLAINT_SAMPLES } from './complaint_samples.ts';
import { HOST_SAMPLES } from './host_samples.ts';
import { OTHER_SAMPLES } from './other_samples.ts';
import type { Sample } from './sample.ts';
import { SERVER_SAMPLES } from './server_samples.ts';

export { SAMPLE_ID, SAMPLE_TO } from './sample.ts';

/** Emails as they stand in a bounce mailbox. */
export const SAMPLES: readonly Sample[] = [
  ...SERVER_SAMPLES,
  ...HOST_SAMPLES,
  ...COMPLAINT_SAMPLES,
  ...OTHER_SAMPLES,
];
