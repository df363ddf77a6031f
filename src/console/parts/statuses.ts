import type { Send } from '../api.ts';

type Shown = { word: string; color: string };

/** Every state of a send in words; the colour only repeats what the word says. */
export const statuses: Record<Send['status'], Shown> = {
  queued: { word: 'Queued', color: 'blue' },
  handing_off: { word: 'Being handed over', color: 'blue' },
  accepted: { word: 'Accepted', color: 'teal' },
  delivered: { word: 'Delivered', color: 'green' },
  bounced: { word: 'Bounced', color: 'red' },
  complained: { word: 'Marked as spam', color: 'red' },
  rejected: { word: 'Rejected', color: 'red' },
  unknown: { word: 'Outcome unknown', color: 'orange' },
  not_sent: { word: 'Not sent', color: 'gray' },
  suppressed: { word: 'Suppressed', color: 'grape' },
  cancelled: { word: 'Cancelled', color: 'gray' },
  expired: { word: 'Expired', color: 'gray' },
  failed_render: { word: 'Template failed', color: 'red' },
};

export const SHOWN_STATUSES = Object.keys(statuses) as Send['status'][];

/** `hard_bounce` as people write it. */
export const inWords = (name: string): string => name.replaceAll('_', ' ');
